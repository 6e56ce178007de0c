// SPDX-License-Identifier: Apache-2.0
// The way to the TCP segment: every link type, IPv4 with options and fragments, IPv6 with extension headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/tcp_history.hpp"

namespace weft::conformance::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const Segment kSegment{.sequence = 1, .payload = "payload"};

Octets behind(const Octets& header, const Octets& ip) {
  Octets packet = header;
  append(packet, ip);
  return packet;
}

Packet packet(LinkType link, Bytes octets, std::uint64_t number = 1) {
  return {
      .number = number, .link = link, .captured = octets, .original_size = static_cast<std::uint32_t>(octets.size())};
}

// The place of the payload's first octet is told with it.
void expect_payload(LinkType link, const Octets& octets) {
  TcpHistory history;
  history.take(packet(link, octets));
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_EQ(history.from(End::kFirst).stream, "payload");
  EXPECT_EQ(history.from(End::kFirst).places.at(0), (Place{1, static_cast<std::uint32_t>(octets.size() - 7)}));
}

Octets header(std::uint64_t high, std::size_t high_size, std::size_t zeros) {
  Octets octets;
  append(octets, high, high_size);
  octets.resize(octets.size() + zeros);
  return octets;
}

Octets cooked(std::uint16_t protocol) {
  Octets octets(14);
  append(octets, protocol, 2);
  return octets;
}

TEST(LinkLayers, Ethernet) {
  expect_payload(LinkType::kEthernet, ethernet(ipv4(kSegment)));
  expect_payload(LinkType::kEthernet, ethernet(ipv6(kSegment)));
}

TEST(LinkLayers, VlanTags) {
  expect_payload(LinkType::kEthernet, ethernet(ipv4(kSegment), {0x8100}));
  expect_payload(LinkType::kEthernet, ethernet(ipv4(kSegment), {0x88a8, 0x8100}));
  expect_payload(LinkType::kEthernet, ethernet(ipv6(kSegment), {0x9100, 0x8100, 0x8100}));
}

TEST(LinkLayers, EthernetPaddingIsNoPayload) {
  Octets frame = ethernet(ipv4(Segment{.sequence = 1, .payload = "x"}));
  frame.resize(60);
  TcpHistory history;
  history.take(packet(LinkType::kEthernet, frame));
  EXPECT_EQ(history.from(End::kFirst).stream, "x");
}

TEST(LinkLayers, LinuxCooked) {
  expect_payload(LinkType::kLinuxCooked, behind(cooked(0x0800), ipv4(kSegment)));
  expect_payload(LinkType::kLinuxCooked, behind(cooked(0x86dd), ipv6(kSegment)));
  Octets tagged = cooked(0x8100);
  append(tagged, 0x00010800, 4);
  expect_payload(LinkType::kLinuxCooked, behind(tagged, ipv4(kSegment)));
}

TEST(LinkLayers, LinuxCooked2) {
  expect_payload(LinkType::kLinuxCooked2, behind(header(0x0800, 2, 18), ipv4(kSegment)));
  expect_payload(LinkType::kLinuxCooked2, behind(header(0x86dd, 2, 18), ipv6(kSegment)));
}

TEST(LinkLayers, Loopback) {
  for (const LinkType link : {LinkType::kNull, LinkType::kLoop}) {
    expect_payload(link, behind(header(2, 4, 0), ipv4(kSegment)));
    for (const std::uint64_t family : {10U, 24U, 28U, 30U}) {
      expect_payload(link, behind(header(family, 4, 0), ipv6(kSegment)));
    }
  }
  expect_payload(LinkType::kNull, behind(header(0x02000000, 4, 0), ipv4(kSegment)));
  expect_payload(LinkType::kNull, behind(header(0x1e000000, 4, 0), ipv6(kSegment)));
}

TEST(LinkLayers, RawIp) {
  expect_payload(LinkType::kRawIp, ipv4(kSegment));
  expect_payload(LinkType::kRawIp, ipv6(kSegment));
  expect_payload(LinkType::kIpv4, ipv4(kSegment));
  expect_payload(LinkType::kIpv6, ipv6(kSegment));
}

TEST(LinkLayers, Ipv4Options) { expect_payload(LinkType::kRawIp, ipv4(kSegment, Octets(8, std::byte{1}))); }

TEST(LinkLayers, Ipv6ExtensionHeaders) {
  Octets extensions;
  append(extensions, 0x2b00010400000000, 8);  // hop-by-hop options, then a routing header
  append(extensions, 0x3c01000000000000, 8);  // of 16 octets, then destination options
  append(extensions, 0, 8);
  append(extensions, 0x2c00010400000000, 8);  // then an atomic fragment
  append(extensions, 0x3300000000000001, 8);  // then an authentication header
  append(extensions, 0x0604000000000000, 8);  // of 24 octets, then TCP
  append(extensions, 0, 8);
  append(extensions, 0, 8);
  expect_payload(LinkType::kRawIp, ipv6(kSegment, 0, extensions));
}

// A length of zero: the network card was to cut the packet (or it is beyond 64 KiB), and the capture is of before.
TEST(LinkLayers, LengthLeftToTheNetworkCard) {
  Octets four = ipv4(kSegment);
  four[2] = four[3] = std::byte{0};
  expect_payload(LinkType::kRawIp, four);
  Octets six = ipv6(kSegment);
  six[4] = six[5] = std::byte{0};
  expect_payload(LinkType::kRawIp, six);
}

TEST(LinkLayers, OtherProtocolsAreCounted) {
  TcpHistory history;
  Octets udp = ipv4(kSegment);
  udp[9] = std::byte{17};
  history.take(packet(LinkType::kRawIp, udp, 1));
  Octets arp(42);
  arp[12] = std::byte{8};
  arp[13] = std::byte{6};
  history.take(packet(LinkType::kEthernet, arp, 2));
  EXPECT_EQ(history.tcp().counts().not_tcp, 2U);
  EXPECT_EQ(history.connections(), 0U);
}

// Cut anywhere in the headers: malformed. Cut after them: a gap.
TEST(LinkLayers, HeadersAreNotReadBeyondTheirEnd) {
  for (const Octets& ip : {ipv4(kSegment), ipv6(kSegment)}) {
    const Octets frame = ethernet(ip, {0x8100});
    for (std::size_t size = 0; size < frame.size(); ++size) {
      TcpHistory history;
      const Octets cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));  // for AddressSanitizer
      history.take({.number = 1,
                    .link = LinkType::kEthernet,
                    .captured = cut,
                    .original_size = static_cast<std::uint32_t>(frame.size())});
      const bool headers = size >= frame.size() - 7;
      EXPECT_EQ(history.tcp().counts().malformed, headers ? 0U : 1U) << size;
      EXPECT_EQ(history.connections(), headers ? 1U : 0U) << size;
    }
  }
}

TEST(LinkLayers, LengthsThatMakeNoSense) {
  const auto malformed = [](const Octets& ip) {
    TcpHistory history;
    history.take(packet(LinkType::kRawIp, ip));
    return history.tcp().counts().malformed == 1;
  };
  const auto with = [](Octets ip, std::size_t at, std::uint8_t value) {
    ip.at(at) = std::byte{value};
    return ip;
  };
  EXPECT_TRUE(malformed(with(ipv4(kSegment), 0, 0x44)));   // header shorter than any
  EXPECT_TRUE(malformed(with(ipv4(kSegment), 0, 0x4f)));   // longer than the packet
  EXPECT_TRUE(malformed(with(ipv4(kSegment), 3, 19)));     // packet shorter than its header
  EXPECT_TRUE(malformed(with(ipv4(kSegment), 32, 0x40)));  // TCP header shorter than any
  EXPECT_TRUE(malformed(with(ipv4(kSegment), 32, 0xf0)));  // longer than the packet
  EXPECT_TRUE(malformed(with(ipv6(kSegment), 6, 0)));      // the TCP header as hop-by-hop options
  EXPECT_TRUE(malformed(with(ipv4(kSegment), 0, 0x95)));   // no version of IP
}

struct Cut {
  std::size_t begin{};
  std::size_t end{};
};

Octets fragment(const Octets& whole, const Cut& cut, std::uint16_t id = 7) {
  const auto at = [&](std::size_t offset) { return whole.begin() + static_cast<std::ptrdiff_t>(offset); };
  const auto more = static_cast<std::uint16_t>(cut.end == whole.size() ? 0 : 0x2000);
  return ipv4(false, Octets(at(cut.begin), at(cut.end)), id, static_cast<std::uint16_t>(more | cut.begin / 8));
}

TEST(Fragments, InAnyOrderAndWithTheirPlaces) {
  const Octets whole = tcp({.sequence = 1, .payload = "0123456789abcdef"});  // header of 20 octets
  TcpHistory history;
  history.take_ip(fragment(whole, {24, 36}));
  history.take_ip(fragment(whole, {8, 24}));
  history.take_ip(fragment(whole, {8, 24}));  // twice
  EXPECT_EQ(history.connections(), 0U);
  history.take_ip(fragment(whole, {0, 8}));
  EXPECT_EQ(history.tcp().counts().fragments, 3U);
  ASSERT_EQ(history.connections(), 1U);
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "0123456789abcdef");
  EXPECT_EQ(client.places[0], (Place{2, 20 + 12}));
  EXPECT_EQ(client.places[4], (Place{1, 20}));
  EXPECT_THAT(client.segments, SizeIs(1));
}

TEST(Fragments, OutOfOrderInTcpToo) {
  TcpHistory history;
  history.take({.sequence = 0, .syn = true, .ack = false});
  const Octets whole = tcp({.sequence = 5, .payload = "efghijklmnop"});
  history.take_ip(fragment(whole, {0, 24}));
  history.take_ip(fragment(whole, {24, 32}));
  history.take({.sequence = 1, .payload = "abcd"});
  history.finish();
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "abcdefghijklmnop");
  EXPECT_EQ(client.places[4], (Place{2, 40}));
  EXPECT_EQ(client.places[8], (Place{3, 20}));
}

// Extension headers after that of the fragment belong to what is divided (RFC 8200 section 4.5): here Destination Options.
class Ipv6Fragments : public ::testing::TestWithParam<std::uint8_t> {};
INSTANTIATE_TEST_SUITE_P(NextHeader, Ipv6Fragments, ::testing::Values(6, 60));

TEST_P(Ipv6Fragments, AreJoined) {
  Octets whole = ipv6({.sequence = 1, .payload = "0123456789ab"});
  if (GetParam() == 60) {
    const Octets options{std::byte{6}, {}, std::byte{1}, std::byte{4}, {}, {}, {}, {}};  // and TCP next
    whole.insert(whole.begin() + 40, options.begin(), options.end());
  }
  const std::size_t size = whole.size() - 40;
  const auto part = [&](std::size_t begin, std::size_t end, std::uint64_t offset_and_more) {
    Octets ip(whole.begin(), whole.begin() + 40);
    ip[5] = static_cast<std::byte>(8 + end - begin);
    ip[6] = std::byte{44};
    append(ip, std::uint64_t{GetParam()} << 24U | offset_and_more, 4);
    append(ip, 99, 4);
    ip.insert(ip.end(), whole.begin() + 40 + static_cast<std::ptrdiff_t>(begin),
              whole.begin() + 40 + static_cast<std::ptrdiff_t>(end));
    return ip;
  };
  TcpHistory history;
  history.take_ip(part(0, 24, 1));
  history.take_ip(part(24, size, 24));
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_EQ(history.from(End::kFirst).stream, "0123456789ab");
}

TEST(Fragments, OverlapsMakeTheDatagramVoid) {
  const Octets whole = tcp({.sequence = 1, .payload = "0123456789ab"});
  TcpHistory history;
  history.take_ip(fragment(whole, {0, 24}));
  history.take_ip(fragment(whole, {16, 32}));
  history.take_ip(fragment(whole, {24, 32}));
  EXPECT_EQ(history.connections(), 0U);
}

// The identification is used again (RFC 4963) after a fragment that the capture lacks, or that it has twice.
TEST(Fragments, OfTwoDatagramsAreNotJoined) {
  const Octets old = tcp({.sequence = 1, .payload = "old octets.."});
  const Octets fresh = tcp({.sequence = 1, .payload = "new contents"});
  const Cut first{0, 24}, second{24, 32};
  const auto stream_of = [&](const std::vector<Octets>& all) {
    TcpHistory history;
    for (const Octets& one : all) history.take_ip(one);
    return history.connections() == 0 ? std::string() : history.from(End::kFirst).stream;
  };
  EXPECT_EQ(stream_of({fragment(old, first), fragment(fresh, first), fragment(fresh, second)}), "new contents");
  EXPECT_EQ(stream_of({fragment(old, second), fragment(fresh, first), fragment(fresh, second)}), "new contents");
  EXPECT_EQ(stream_of({fragment(old, second), fragment(fresh, second), fragment(fresh, first)}), "new contents");
  EXPECT_EQ(stream_of({fragment(old, first), fragment(fresh, second)}), "");
}

TEST(Fragments, CapturedTwiceLeaveNothingBehind) {
  const Octets one = tcp({.sequence = 1, .payload = "0123456789ab"});
  const Octets next = tcp({.sequence = 13, .payload = "cdefghijklmn"});
  TcpHistory history;
  for (const Octets& whole : {one, next}) {
    for (const Cut& cut : {Cut{0, 24}, Cut{24, 32}}) {
      history.take_ip(fragment(whole, cut));
      history.take_ip(fragment(whole, cut));
    }
  }
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_EQ(history.from(End::kFirst).stream, "0123456789abcdefghijklmn");
}

// Identifications wrap: a fragment of some seconds ago is another datagram's.
TEST(Fragments, OldOnesAreForgotten) {
  const Octets whole = tcp({.sequence = 1, .payload = "0123456789ab"});
  const Octets first = fragment(whole, {0, 24}), second = fragment(whole, {24, 32});
  TcpHistory history;
  const Packet one = packet(LinkType::kRawIp, first, 1);
  Packet two = packet(LinkType::kRawIp, second, 2);
  two.time = 3'000'000'000;
  history.take(one);
  history.take(two);
  EXPECT_EQ(history.connections(), 0U);
  EXPECT_EQ(history.tcp().counts().fragments, 2U);
}

TEST(Fragments, ManyUnfinishedOnesAreForgotten) {
  const Octets whole = tcp({.sequence = 1, .payload = "0123456789ab"});
  TcpHistory history;
  for (std::uint16_t id = 0; id < 1000; ++id) history.take_ip(fragment(whole, {0, 24}, id));
  history.take_ip(fragment(whole, {24, 32}, 0));
  EXPECT_EQ(history.connections(), 0U);
  history.take_ip(fragment(whole, {24, 32}, 999));
  EXPECT_EQ(history.connections(), 1U);
}

}  // namespace
}  // namespace weft::conformance::testing
