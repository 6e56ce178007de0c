// SPDX-License-Identifier: Apache-2.0
// Encapsulations around the IP packet of a TCP segment: each by itself, in each other, in fragments, cut anywhere, and
// too deep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "packet/header_path.hpp"
#include "tests/conformance/tcp_history.hpp"

namespace weft::conformance::testing {
namespace {

const Segment kInner{.sequence = 1, .payload = "payload"};

Octets number(std::uint64_t value, std::size_t size) {
  Octets octets;
  append(octets, value, size);
  return octets;
}

Octets joined(std::initializer_list<Octets> pieces) {
  Octets all;
  for (const Octets& piece : pieces) append(all, piece);
  return all;
}

// IPv4 or IPv6 around `payload`, with other addresses than the inner packet.
Octets outer(std::uint8_t protocol, const Octets& payload, bool ipv6 = false) {
  if (ipv6) {
    return joined({number(0x60000000, 4), number(payload.size(), 2), number(protocol, 1), number(64, 1), Octets(15),
                   number(9, 1), Octets(15), number(8, 1), payload});
  }
  Octets packet = ipv4(false, payload, 1, 0x4000);
  packet[9] = std::byte{protocol};
  packet[15] = std::byte{99};
  return packet;
}

Octets frame(std::uint16_t type, const Octets& payload) { return joined({Octets(12), number(type, 2), payload}); }

Octets udp(std::uint16_t port, const Octets& payload) {
  return outer(17, joined({number(50000, 2), number(port, 2), number(payload.size() + 8, 2), number(0, 2), payload}));
}

Octets gre(std::uint16_t flags, std::uint16_t type, const Octets& fields, const Octets& payload) {
  return outer(47, joined({number(flags, 2), number(type, 2), fields, payload}));
}

const Octets kIp4 = ipv4(kInner);
const Octets kIp6 = ipv6(kInner);
const Octets kFrame = ethernet(kIp4);

Octets vxlan(const Octets& inner) { return joined({number(0x08000000, 4), number(42, 3), number(0, 1), inner}); }

struct Shape {
  std::string path;
  Octets ip{};           // as LinkType::kRawIp, or ..
  Octets of_ethernet{};  // .. as an Ethernet frame
  [[nodiscard]] LinkType link() const { return ip.empty() ? LinkType::kEthernet : LinkType::kRawIp; }
  [[nodiscard]] const Octets& octets() const { return ip.empty() ? of_ethernet : ip; }
};

std::vector<Shape> shapes() {
  const Octets label = number(16U << 12 | 64, 4), last = number(17U << 12 | 0x100U | 64, 4);
  const Octets vlan = number(5, 2);
  return {
      {.path = "VLAN 5", .of_ethernet = frame(0x8100, joined({vlan, number(0x0800, 2), kIp4}))},
      {.path = "VLAN 6, VLAN 5",
       .of_ethernet = frame(0x88a8, joined({number(0x6006, 2), number(0x8100, 2), vlan, number(0x86dd, 2), kIp6}))},
      {.path = "MPLS 16, MPLS 17", .of_ethernet = frame(0x8847, joined({label, last, kIp4}))},
      {.path = "MPLS 17", .of_ethernet = frame(0x8848, joined({last, kIp6}))},
      {.path = "MPLS 17", .of_ethernet = frame(0x8847, joined({last, number(0, 4), kFrame}))},
      {.path = "MPLS 17", .of_ethernet = frame(0x8847, joined({last, kFrame}))},
      {.path = "PPPoE session 7",
       .of_ethernet =
           frame(0x8864, joined({number(0x11000007, 4), number(kIp4.size() + 2, 2), number(0x21, 2), kIp4}))},
      {.path = "PPPoE session 7",
       .of_ethernet =
           frame(0x8864, joined({number(0x11000007, 4), number(kIp6.size() + 1, 2), number(0x57, 1), kIp6}))},
      {.path = "IP in IP", .ip = outer(4, kIp4)},
      {.path = "IP in IP", .ip = outer(41, kIp6)},
      {.path = "IP in IP", .ip = outer(4, kIp4, true)},
      {.path = "IP in IP", .ip = outer(41, kIp6, true)},
      {.path = "IP in IP, IP in IP", .ip = outer(4, outer(41, kIp6))},
      {.path = "EtherIP", .ip = outer(97, joined({number(0x3000, 2), kFrame}))},
      {.path = "GRE", .ip = gre(0, 0x0800, {}, kIp4)},
      {.path = "GRE", .ip = gre(0x8000, 0x86dd, number(0, 4), kIp6)},
      {.path = "GRE", .ip = gre(0x1000, 0x6558, number(9, 4), kFrame)},
      {.path = "GRE key 77", .ip = gre(0xb000, 0x0800, joined({number(0, 4), number(77, 4), number(9, 4)}), kIp4)},
      {.path = "GRE, MPLS 17", .ip = gre(0, 0x8847, {}, joined({last, kIp4}))},
      {.path = "NVGRE 42", .ip = gre(0x2000, 0x6558, number(42U << 8 | 1U, 4), kFrame)},
      {.path = "PPTP call 3",
       .ip = gre(0x3081, 0x880b, joined({number(60, 2), number(3, 2), number(1, 4), number(2, 4)}),
                 joined({number(0xff030021, 4), kIp4}))},
      {.path = "ERSPAN session 0", .ip = gre(0, 0x88be, {}, kFrame)},
      {.path = "ERSPAN session 5",
       .ip = gre(0x1000, 0x88be, number(1, 4), joined({number(0x1001, 2), number(0x0005, 2), number(0, 4), kFrame}))},
      {.path = "ERSPAN session 6",
       .ip = gre(0x1000, 0x22eb, number(1, 4), joined({number(0x2001, 2), number(0x0006, 2), Octets(8), kFrame}))},
      {.path = "ERSPAN session 6",
       .ip = gre(0x1000, 0x22eb, number(1, 4),
                 joined({number(0x2001, 2), number(0x0006, 2), Octets(6), number(0x0801, 2), Octets(8), kIp4}))},
      {.path = "VXLAN 42", .ip = udp(4789, vxlan(kFrame))},
      {.path = "VXLAN 42", .ip = udp(8472, vxlan(ethernet(kIp6)))},
      {.path = "VXLAN 42", .ip = udp(4790, joined({number(0x0c000001, 4), number(42, 3), number(0, 1), kIp4}))},
      {.path = "VXLAN 42, VLAN 291", .ip = udp(4789, vxlan(ethernet(kIp4, {0x8100})))},
      {.path = "Geneve 43", .ip = udp(6081, joined({number(0x00006558, 4), number(43, 3), number(0, 1), kFrame}))},
      {.path = "Geneve 43",
       .ip = udp(6081, joined({number(0x02000800, 4), number(43, 3), number(0, 1), Octets(8), kIp4}))},
      {.path = "VXLAN 42, VXLAN 42", .ip = udp(4789, vxlan(frame(0x0800, udp(4789, vxlan(kFrame)))))},
      {.path = "MPLS 17", .ip = udp(6635, joined({last, kIp4}))},
  };
}

Packet packet_of(const Shape& shape, Bytes octets, std::size_t original) {
  return {.number = 1, .link = shape.link(), .captured = octets, .original_size = static_cast<std::uint32_t>(original)};
}

TEST(Encapsulations, AreUnwrappedAndNamed) {
  for (const Shape& shape : shapes()) {
    TcpHistory history;
    history.take(packet_of(shape, shape.octets(), shape.octets().size()));
    ASSERT_EQ(history.connections(), 1U) << shape.path;
    EXPECT_EQ(history.from(End::kFirst).stream, "payload") << shape.path;
    EXPECT_EQ(history.from(End::kFirst).places.at(0), (Place{1, static_cast<std::uint32_t>(shape.octets().size() - 7)}))
        << shape.path;
    TcpConnections tcp;
    ASSERT_TRUE(tcp.take(packet_of(shape, shape.octets(), shape.octets().size())));
    ASSERT_NE(tcp.info(0), nullptr);
    EXPECT_EQ(tcp.info(0)->path, shape.path);
  }
}

// Cut in the headers: no connection, and nothing is read that was not captured (AddressSanitizer).
TEST(Encapsulations, AreNotReadBeyondTheirEnd) {
  for (const Shape& shape : shapes()) {
    const Octets& whole = shape.octets();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      TcpHistory history;
      const Octets cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      history.take(packet_of(shape, cut, whole.size()));
      EXPECT_EQ(history.connections(), size >= whole.size() - 7 ? 1U : 0U) << shape.path << " cut to " << size;
    }
  }
}

// Any octet may lie.
TEST(Encapsulations, WithAnyOctetWrongAreHarmless) {
  for (const Shape& shape : shapes()) {
    for (std::size_t at = 0; at < shape.octets().size(); ++at) {
      for (const unsigned value : {0x00U, 0x01U, 0x45U, 0x60U, 0x7fU, 0x80U, 0xffU}) {
        Octets wrong = shape.octets();
        wrong[at] = static_cast<std::byte>(value);
        TcpHistory history;
        history.take(packet_of(shape, wrong, wrong.size()));
        EXPECT_LE(history.connections(), 1U);
      }
    }
  }
}

TEST(Encapsulations, HaveABoundedDepth) {
  Octets deep = kIp4;
  for (std::size_t i = 0; i < packet::HeaderPath::kMost; ++i) deep = outer(4, deep);
  TcpHistory history;
  history.take({.number = 1,
                .link = LinkType::kRawIp,
                .captured = deep,
                .original_size = static_cast<std::uint32_t>(deep.size())});
  EXPECT_EQ(history.connections(), 1U);
  const Octets deeper = outer(4, deep);
  TcpHistory none;
  none.take({.number = 1,
             .link = LinkType::kRawIp,
             .captured = deeper,
             .original_size = static_cast<std::uint32_t>(deeper.size())});
  EXPECT_EQ(none.connections(), 0U);
  EXPECT_EQ(none.tcp().counts().not_tcp, 1U);
}

// Both directions are one connection whatever their labels.
TEST(Encapsulations, OfTheTwoDirectionsMayDiffer) {
  TcpHistory history;
  const auto take = [&](const Octets& ip, std::uint64_t number) {
    history.take({.number = number,
                  .link = LinkType::kRawIp,
                  .captured = ip,
                  .original_size = static_cast<std::uint32_t>(ip.size())});
  };
  take(gre(0x2000, 0x0800, number(1, 4), kIp4), 1);
  take(gre(0x2000, 0x0800, number(2, 4), ipv4({.from_server = true, .sequence = 1, .payload = "answer"})), 2);
  take(ipv4({.sequence = 8, .payload = " and more"}), 3);
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_EQ(history.from(End::kFirst).stream, "payload and more");
  EXPECT_EQ(history.from(End::kSecond).stream, "answer");
}

// A tunnel's packet in fragments, and in it a fragment: places are those of the packets that carried the octets.
TEST(Encapsulations, InFragments) {
  const Octets inner = tcp({.sequence = 1, .payload = "0123456789abcdef"});  // header of 20 octets
  const auto piece = [](const Octets& whole, std::size_t begin, std::size_t end, std::uint16_t id) {
    const auto at = [&](std::size_t offset) { return whole.begin() + static_cast<std::ptrdiff_t>(offset); };
    const auto more = static_cast<std::uint16_t>(end == whole.size() ? 0 : 0x2000);
    return ipv4(false, Octets(at(begin), at(end)), id, static_cast<std::uint16_t>(more | begin / 8));
  };
  const Octets first = piece(inner, 0, 24, 7), second = piece(inner, 24, 36, 7);
  const Octets tunneled = joined({number(0, 2), number(0x0800, 2), first});  // GRE, 4 + 44 octets
  TcpHistory history;
  const auto take = [&](Octets ip, std::uint8_t protocol, std::uint64_t number) {
    ip[9] = std::byte{protocol};
    history.take({.number = number,
                  .link = LinkType::kRawIp,
                  .captured = ip,
                  .original_size = static_cast<std::uint32_t>(ip.size())});
  };
  take(piece(tunneled, 0, 32, 9), 47, 1);
  take(piece(tunneled, 32, 48, 9), 47, 2);
  EXPECT_EQ(history.connections(), 0U);
  take(outer(4, second), 4, 3);
  ASSERT_EQ(history.connections(), 1U);
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "0123456789abcdef");
  EXPECT_EQ(client.places[0], (Place{2, 20 + 12})) << "octet 44 of the tunneled packet";
  EXPECT_EQ(client.places[4], (Place{3, 40}));
}

}  // namespace
}  // namespace weft::conformance::testing
