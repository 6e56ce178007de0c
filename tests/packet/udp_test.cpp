// SPDX-License-Identifier: Apache-2.0
// Datagrams as packets. The expected frames were computed from RFC 768, 791 and 8200 by a script of its own.
#include "packet/udp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/text.hpp"
#include "packet/compose.hpp"

namespace weft::packet {
namespace {

Endpoint end_of(std::initializer_list<unsigned> front, unsigned last, std::uint16_t port) {
  const bool ipv4 = front.size() == 3;
  Endpoint end{.address = {.version = static_cast<std::uint8_t>(ipv4 ? 4 : 6)}, .port = port};
  std::ranges::transform(front, end.address.octets.begin(), [](unsigned octet) { return std::byte(octet); });
  end.address.octets[ipv4 ? 3 : 15] = std::byte(last);
  return end;
}

std::string composed(const Endpoint& source, const Endpoint& destination, std::string_view text) {
  const Bytes octets = std::as_bytes(std::span(text));
  // In two pieces, the first of an odd size.
  const std::size_t cut = std::min<std::size_t>(1, octets.size());
  const std::array pieces{octets.first(cut), octets.subspan(cut)};
  PieceReader payload(pieces);
  std::vector<std::byte> frame(100, std::byte{0xff});  // of the frame before
  compose(frame, Datagram{.source = source, .destination = destination}, payload, octets.size());
  std::string words = hex(frame, frame.size());
  std::erase(words, ' ');
  return words;
}

TEST(Udp, IsComposedOverIpv4) {
  EXPECT_EQ(composed(end_of({192, 0, 2}, 1, 4000), end_of({192, 0, 2}, 2, 5000), "abc"),
            "0200000000000200000000000800"
            "4500001f000040004011b6cac0000201c0000202"
            "0fa01388000b9449616263");
}

TEST(Udp, IsComposedOverIpv6) {
  EXPECT_EQ(composed(end_of({0x20, 0x01, 0x0d, 0xb8}, 1, 4000), end_of({0x20, 0x01, 0x0d, 0xb8}, 2, 5000), "abc"),
            "02000000000002000000000086dd"
            "60000000000b114020010db800000000000000000000000120010db8000000000000000000000002"
            "0fa01388000bbcd8616263");
}

// RFC 768: "If the computed checksum is zero, it is transmitted as all ones".
TEST(Udp, HasAChecksumOfOnesForZero) {
  EXPECT_EQ(composed(end_of({192, 0, 2}, 1, 4000), end_of({192, 0, 2}, 2, 5000), "\x58\xae"),
            "0200000000000200000000000800"
            "4500001e000040004011b6cbc0000201c0000202"
            "0fa01388000affff58ae");
}

std::vector<std::byte> header(unsigned length) {
  return {std::byte{0x0f},        std::byte{0xa0},          std::byte{0x13}, std::byte{0x88},
          std::byte(length >> 8), std::byte(length & 0xff), std::byte{0},    std::byte{0}};
}

TEST(Udp, IsParsed) {
  const auto parsed = parse_udp(header(11), 11);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->source_port, 4000);
  EXPECT_EQ(parsed->destination_port, 5000);
  EXPECT_EQ(parsed->payload_size, 3U) << "as sent, although none of it was captured";
  EXPECT_EQ(parse_udp(header(8), 20)->payload_size, 0U) << "padding follows";
}

TEST(Udp, OfAWrongLengthIsMalformed) {
  EXPECT_EQ(parse_udp(header(7), 8).error(), Unread::kMalformed);
  EXPECT_EQ(parse_udp(header(0), 8).error(), Unread::kMalformed);
  EXPECT_EQ(parse_udp(header(9), 8).error(), Unread::kMalformed);
  EXPECT_EQ(parse_udp(Bytes(header(8)).first(7), 8).error(), Unread::kMalformed);
}

}  // namespace
}  // namespace weft::packet
