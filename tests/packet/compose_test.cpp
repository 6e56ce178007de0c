// SPDX-License-Identifier: Apache-2.0
// What is composed is what is parsed, with checksums that a receiver accepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "packet/checksum.hpp"
#include "packet/conversation.hpp"
#include "packet/encapsulation.hpp"
#include "packet/header_walk.hpp"
#include "packet/tcp.hpp"

namespace weft::packet {
namespace {

using testing::ElementsAre;

std::vector<std::byte> octets_of(std::string_view text) {
  const Bytes octets = std::as_bytes(std::span(text));
  return {octets.begin(), octets.end()};
}

// The example of RFC 1071 section 3.
TEST(Checksum, IsThatOfTheRfc) {
  constexpr std::array kWords{std::byte{0x00}, std::byte{0x01}, std::byte{0xf2}, std::byte{0x03},
                              std::byte{0xf4}, std::byte{0xf5}, std::byte{0xf6}, std::byte{0xf7}};
  EXPECT_EQ(fold(sum_words(kWords)), 0xffff - 0xddf2);
  EXPECT_EQ(sum_words(Bytes(kWords).first(3)), 0x0001U + 0xf200U) << "an odd octet is the upper half of a word";
}

Endpoint endpoint(std::uint8_t version, std::uint8_t host, std::uint16_t port) {
  Endpoint end{.address = {.version = version}, .port = port};
  end.address.octets[0] = std::byte{0x20};
  end.address.octets[version == 4 ? 3 : 15] = std::byte{host};
  return end;
}

TEST(Compose, IsWhatIsParsed) {
  constexpr std::array kOptions{std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1},
                                std::byte{2}, std::byte{4}, std::byte{5}, std::byte{0xb4}};
  for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}}) {
    for (const std::string_view text : {"", "x", "an even number.", "of odd size"}) {
      const Endpoint source = endpoint(version, 1, 40000), destination = endpoint(version, 2, 7471);
      const auto octets = octets_of(text);
      const std::array<Bytes, 2> pieces{Bytes(octets).first(octets.size() / 2),
                                        Bytes(octets).subspan(octets.size() / 2)};
      PieceReader payload(pieces);
      std::vector<std::byte> frame(3, std::byte{0xff});  // of the frame before
      compose(frame,
              {.source = source,
               .destination = destination,
               .sequence = 0xfffffffe,
               .acknowledgement = 7,
               .flags = tcp_flag::kSyn | tcp_flag::kAck,
               .window = 1000,
               .options = kOptions},
              payload, octets.size());
      EXPECT_EQ(payload.left(), 0U);
      const auto ip = find_innermost(LinkType::kEthernet, frame, frame.size());
      ASSERT_TRUE(ip);
      EXPECT_EQ(ip->at, EthernetLayout::kSize);
      EXPECT_EQ(ip->packet.source, source.address);
      EXPECT_EQ(ip->packet.destination, destination.address);
      EXPECT_EQ(ip->packet.protocol, kTcp);
      const Bytes segment = Bytes(frame).subspan(ip->packet.payload_at);
      EXPECT_EQ(ip->packet.payload_size, segment.size());
      const auto tcp = parse_tcp(segment, segment.size());
      ASSERT_TRUE(tcp);
      EXPECT_EQ(tcp->source_port, source.port);
      EXPECT_EQ(tcp->destination_port, destination.port);
      EXPECT_EQ(tcp->sequence, 0xfffffffe);
      EXPECT_EQ(tcp->acknowledgement, 7U);
      EXPECT_TRUE(tcp->syn && tcp->ack && !tcp->fin && !tcp->rst);
      EXPECT_EQ(tcp->mss, 1460);
      EXPECT_TRUE(std::ranges::equal(segment.subspan(tcp->size), octets));
      EXPECT_EQ(fold(sum_words(source.address.octets) + sum_words(destination.address.octets) + kTcp + segment.size() +
                     sum_words(segment)),
                0)
          << "of TCP and its pseudo header";
      if (version == 6) continue;
      EXPECT_EQ(fold(sum_words(Bytes(frame).subspan(ip->at, ip->packet.payload_at - ip->at))), 0);
    }
  }
}

TEST(Addresses, InWords) {
  EXPECT_EQ(in_words({{std::byte{192}, std::byte{0}, std::byte{2}, std::byte{1}}, 4}), "192.0.2.1");
  EXPECT_EQ(in_words({{std::byte{0x20}, std::byte{0x01}, std::byte{0x0d}, std::byte{0xb8}}, 6}), "2001:db8::");
}

// Each line: who, flags, sequence number, acknowledgment number, octets.
class Lines final : public SegmentSink {
 public:
  void write(const Segment& segment, PieceReader& payload, std::size_t octets) override {
    taken.resize(octets);
    payload.take(taken);
    lines.push_back(std::to_string(segment.source.port) + ' ' + std::to_string(segment.flags) + ' ' +
                    std::to_string(segment.sequence) + ' ' + std::to_string(segment.acknowledgement) + ' ' +
                    std::to_string(octets));
  }
  std::vector<std::byte> taken{};
  std::vector<std::string> lines{};
};

using Side = Conversation::Side;

Conversation conversation(std::size_t mss) {
  return {{.endpoint = endpoint(4, 1, 1), .next_sequence = 100},
          {.endpoint = endpoint(4, 2, 2), .next_sequence = 200},
          mss};
}

TEST(AConversation, CountsOctetsAndFlags) {
  Conversation tcp = conversation(2);
  Lines to;
  const auto octets = octets_of("abc");
  const Bytes piece(octets);
  tcp.open(to);
  tcp.send(to, Side::kOpener, {&piece, 1});
  tcp.finish(to, Side::kOpener);
  tcp.send(to, Side::kOpener, {&piece, 1});
  tcp.finish(to, Side::kOpener);
  tcp.reset(to, Side::kAnswerer);
  tcp.send(to, Side::kAnswerer, {&piece, 1});
  tcp.reset(to, Side::kOpener);
  EXPECT_THAT(to.lines, ElementsAre("1 2 100 0 0", "2 18 200 101 0", "1 16 101 201 0", "1 16 101 201 2",
                                    "1 24 103 201 1", "1 17 104 201 0", "2 16 201 105 0", "2 20 201 105 0"));
}

// Readers would report a full window.
TEST(AConversation, AcknowledgesEachMebioctetOfAnEnd) {
  Conversation tcp = conversation(1 << 15);
  Lines to;
  const std::vector<std::byte> octets(3 << 20);
  const Bytes piece(octets);
  tcp.open(to);
  tcp.send(to, Side::kAnswerer, {&piece, 1});
  EXPECT_EQ(to.lines.size(), 3U + 96U + 3U);
  EXPECT_EQ(std::ranges::count_if(to.lines, [](const std::string& line) { return line.starts_with("1 16"); }), 1 + 3);
}

}  // namespace
}  // namespace weft::packet
