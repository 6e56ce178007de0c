// SPDX-License-Identifier: Apache-2.0
// The octets of rsockets' protocol, and the bookkeeping of both directions. The expected octets follow rdma-core's
// "rsocket Protocol and Design Guide".
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "compat/rsockets/mappings.hpp"
#include "compat/rsockets/receiver.hpp"
#include "compat/rsockets/sender.hpp"
#include "compat/rsockets/sizes.hpp"
#include "compat/rsockets/wire.hpp"

namespace weft::compat::rsockets {
namespace {

template <typename... Values>
std::vector<std::byte> bytes(Values... values) {
  return {static_cast<std::byte>(values)...};
}
template <std::size_t Size>
std::vector<std::byte> vector_of(const std::array<std::byte, Size>& from) {
  return {from.begin(), from.end()};
}

const ConnectData kPeer{.big_endian = false,
                        .knows_iomaps = true,
                        .credits = 0x0180,
                        .iomap_entries = 5,
                        .target_sgl = {0x1122334455667788, 0xA1A2A3A4, 2},
                        .buffer = {0x99AABBCCDDEEFF00, 0xB1B2B3B4, 0x00010000}};

std::vector<std::byte> peer_octets() {
  return bytes(1, 2, 0x01, 0x80, 0, 0, 0, 5,  // version, flags, credits, iomap size
               0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xA1, 0xA2, 0xA3, 0xA4, 0, 0, 0, 2,   // target SGL
               0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x00, 0xB1, 0xB2, 0xB3, 0xB4, 0, 1, 0, 0);  // data buffer
}

TEST(RsocketWire, PrivateData) {
  EXPECT_EQ(vector_of(encode(kPeer)), peer_octets());
  const auto read = decode_connect(peer_octets());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->credits, 0x0180);
  EXPECT_EQ(read->iomap_entries, 5U);
  EXPECT_EQ(read->target_sgl, kPeer.target_sgl);
  EXPECT_EQ(read->buffer, kPeer.buffer);
  EXPECT_FALSE(read->big_endian);
  auto longer = peer_octets();
  longer.resize(56);  // what follows is not ours
  EXPECT_TRUE(decode_connect(longer));
}

TEST(RsocketWire, PrivateDataThatIsRefused) {
  const auto refused = [](std::size_t at, int value) {
    auto octets = peer_octets();
    octets[at] = static_cast<std::byte>(value);
    return !decode_connect(octets);
  };
  auto octets = peer_octets();
  EXPECT_FALSE(decode_connect({}));
  EXPECT_FALSE(decode_connect(std::span(octets).first(39)));
  EXPECT_TRUE(refused(0, 2));   // version
  EXPECT_TRUE(refused(23, 0));  // no SGL entry
  octets[2] = octets[3] = std::byte{0};
  EXPECT_FALSE(decode_connect(octets));  // no credits
  octets = peer_octets();
  std::fill_n(octets.begin() + 8, 8, std::byte{0xFF});
  EXPECT_FALSE(decode_connect(octets));  // the SGL wraps
  octets = peer_octets();
  std::fill_n(octets.begin() + 24, 8, std::byte{0xFF});
  EXPECT_FALSE(decode_connect(octets));  // the buffer wraps
  std::fill_n(octets.begin() + 36, 3, std::byte{0});
  octets[39] = std::byte{1};
  EXPECT_TRUE(decode_connect(octets));  // its one octet is the last one below 2^64
}

TEST(RsocketWire, TableEntries) {
  const RemoteBuffer buffer{0x0102030405060708, 0x11121314, 0x21222324};
  EXPECT_EQ(vector_of(encode(buffer, true)),
            bytes(1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24));
  EXPECT_EQ(vector_of(encode(buffer, false)),
            bytes(8, 7, 6, 5, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21));
  const auto mapping = encode(RemoteMapping{.offset = 0x3132333435363738, .buffer = buffer}, true);
  EXPECT_EQ(mapping[0], std::byte{0x31});
  EXPECT_EQ(mapping[8], std::byte{1});
  EXPECT_EQ(mapping[23], std::byte{0x24});
}

TEST(RsocketWire, Messages) {
  const auto at = [](std::uint32_t word, bool big) {
    const RemoteBuffer carrier{.length = word};  // the same octets as a message
    const auto octets = encode(carrier, big);
    return decode_message(std::span(octets).last<4>(), big);
  };
  EXPECT_EQ(at(0x00000400, false)->op, Op::kData);
  EXPECT_EQ(at(0x00000400, false)->value, 0x400U);
  EXPECT_EQ(at(0x80012345, true)->op, Op::kCreditUpdate);
  EXPECT_EQ(at(0x80012345, true)->value, 0x12345U);
  EXPECT_EQ(at(0xC0000003, false)->op, Op::kIomapUpdate);
  EXPECT_EQ(at(0xE0000002, false)->op, Op::kControl);
  for (const std::uint32_t reserved : {0x20000000U, 0x40000000U, 0x60000000U, 0xA0000000U}) {
    EXPECT_FALSE(at(reserved, false));
  }
  EXPECT_EQ(decode_message(encode(Message{.op = Op::kControl, .value = 2}), false)->value, 2U);
}

TEST(RsocketWire, IomapSizesAreRounded) {
  EXPECT_EQ(round_iomap_entries(0), 0U);
  EXPECT_EQ(round_iomap_entries(128), 128U);
  EXPECT_EQ(round_iomap_entries(1000), 768U);
  EXPECT_EQ(round_iomap_entries(1U << 20), 127U << 8U);
}

// --- The receive side

struct ReceiveSide : testing::Test {
  std::vector<std::byte> ring = std::vector<std::byte>(100);
  Receiver receiver{ring, 8};
  std::vector<std::byte> into = std::vector<std::byte>(200);
  std::size_t take(std::size_t count) { return receiver.take(std::span(into).first(count)); }
};

TEST_F(ReceiveSide, AHalfIsGivenBackWhenItWasRead) {
  EXPECT_TRUE(receiver.grant_due());  // the second half is free from the beginning
  const auto first = receiver.grant();
  EXPECT_EQ(first.half_at, 50U);
  EXPECT_EQ(first.sequence, 8);
  EXPECT_FALSE(receiver.grant_due());
  std::iota(reinterpret_cast<unsigned char*>(ring.data()), reinterpret_cast<unsigned char*>(ring.data()) + 100, 0);
  EXPECT_FALSE(receiver.data_arrived(50));
  EXPECT_FALSE(receiver.data_arrived(20));
  EXPECT_EQ(take(49), 49U);
  EXPECT_FALSE(receiver.grant_due());
  EXPECT_EQ(take(1), 1U);
  ASSERT_TRUE(receiver.grant_due());
  const auto second = receiver.grant();
  EXPECT_EQ(second.half_at, 0U);
  EXPECT_EQ(second.sequence, 9);
  EXPECT_FALSE(receiver.data_arrived(30));
  EXPECT_FALSE(receiver.data_arrived(50));  // the first half again
  EXPECT_EQ(take(200), 100U);
  EXPECT_EQ(into[0], std::byte{50});
  EXPECT_EQ(into[50], std::byte{0});
}

TEST_F(ReceiveSide, PeekingTakesNothing) {
  EXPECT_FALSE(receiver.data_arrived(10));
  ring[3] = std::byte{42};
  EXPECT_EQ(receiver.peek(std::span(into).first(5), 3), 5U);
  EXPECT_EQ(into[0], std::byte{42});
  EXPECT_EQ(receiver.peek(into, 10), 0U);
  EXPECT_EQ(receiver.unread(), 10U);
}

TEST_F(ReceiveSide, WhatWasNotGrantedIsRefused) {
  EXPECT_TRUE(receiver.data_arrived(51));  // the half
  EXPECT_TRUE(receiver.data_arrived(0));
  EXPECT_TRUE(receiver.data_arrived(kMaxValue));
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(receiver.data_arrived(1));
  EXPECT_TRUE(receiver.data_arrived(1));  // the credits
  EXPECT_TRUE(receiver.other_arrived());
  EXPECT_EQ(take(4), 4U);
  EXPECT_EQ(receiver.grant().sequence, 12);
  EXPECT_FALSE(receiver.other_arrived());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(receiver.data_arrived(1));
  EXPECT_TRUE(receiver.data_arrived(1));
}

// --- The send side

struct SendSide : testing::Test {
  std::vector<std::byte> ring = std::vector<std::byte>(64);
  alignas(8) std::array<std::byte, kSglEntries * kSglEntryOctets> table{};
  ConnectData peer{.credits = 8, .target_sgl = {0, 0, 2}, .buffer = {1000, 7, 100}};
  Sender sender{peer, ring, table};
  void write_entry(std::size_t index, const RemoteBuffer& entry) {
    const auto octets = encode(entry, std::endian::native == std::endian::big);
    std::ranges::copy(octets, table.begin() + static_cast<std::ptrdiff_t>(index * kSglEntryOctets));
  }
};

TEST_F(SendSide, BuffersAreFilledOneAfterTheOther) {
  write_entry(1, {5000, 9, 50});
  EXPECT_FALSE(sender.credits_updated(8));
  EXPECT_EQ(sender.data_room(), 100U);
  EXPECT_EQ(sender.claim(60), (RemoteBuffer{1000, 7, 60}));
  EXPECT_EQ(sender.claim(40), (RemoteBuffer{1060, 7, 40}));
  EXPECT_EQ(sender.claim(50), (RemoteBuffer{5000, 9, 50}));
  EXPECT_EQ(sender.data_room(), 0U);
  write_entry(0, {1000, 7, 100});
  EXPECT_EQ(sender.data_room(), 0U);  // not without a message
  EXPECT_FALSE(sender.credits_updated(11));
  EXPECT_EQ(sender.data_room(), 100U);
}

TEST_F(SendSide, CreditsRunOut) {
  for (int i = 0; i < 8; ++i) static_cast<void>(sender.claim(1));
  EXPECT_EQ(sender.data_room(), 0U);
  EXPECT_FALSE(sender.credits_updated(0x10000 + 9));  // modulo 2^16
  EXPECT_EQ(sender.data_room(), 92U);
}

TEST_F(SendSide, CreditsThatThePeerCannotHaveAreRefused) {
  EXPECT_TRUE(sender.credits_updated(9));       // more than its receives
  EXPECT_TRUE(sender.credits_updated(0xFFFF));  // backwards
}

TEST_F(SendSide, TheRingWraps) {
  std::vector<std::byte> octets(40, std::byte{1});
  static_cast<void>(sender.stage(octets));
  EXPECT_EQ(sender.ring_room(), 24U);
  sender.left(40);
  const Staged staged = sender.stage(octets);
  EXPECT_EQ(staged.pieces[0].size(), 24U);
  EXPECT_EQ(staged.pieces[1].size(), 16U);
  EXPECT_EQ(staged.pieces[1].data(), ring.data());
}

// --- Mappings

TEST(RsocketMappings, AreFoundByOffset) {
  alignas(8) std::array<std::byte, 2 * kIomapEntryOctets> table{};
  Mappings mappings(table, kPeer);
  const auto octets =
      encode(RemoteMapping{.offset = 100, .buffer = {5000, 3, 50}}, std::endian::native == std::endian::big);
  std::ranges::copy(octets, table.begin() + kIomapEntryOctets);
  EXPECT_FALSE(mappings.find(100));  // no message yet
  EXPECT_FALSE(mappings.updated(1));
  EXPECT_EQ(mappings.find(100), (RemoteBuffer{5000, 3, 50}));
  EXPECT_EQ(mappings.find(149), (RemoteBuffer{5049, 3, 1}));
  EXPECT_FALSE(mappings.find(150));
  EXPECT_FALSE(mappings.find(99));
  EXPECT_TRUE(mappings.updated(2));  // there are two
}

TEST(RsocketSizes, StayWithinLimits) {
  const Sizes big = Sizes{.send_buffer = ~0U,
                          .receive_buffer = ~0U,
                          .send_queue = ~0U,
                          .receive_queue = ~0U,
                          .inline_octets = ~0U,
                          .iomap_entries = ~0U}
                        .within_limits();
  EXPECT_EQ(big.receive_buffer, kMaxBuffer);
  EXPECT_EQ(big.send_queue, kMaxQueue);
  EXPECT_EQ(big.iomap_entries, 127U << 8U);
  const Sizes small = Sizes{.send_buffer = 0, .receive_buffer = 0, .send_queue = 0, .receive_queue = 0}.within_limits();
  EXPECT_EQ(small.receive_buffer, kMinBuffer);
  EXPECT_EQ(small.receive_queue, kMinQueue);
}

}  // namespace
}  // namespace weft::compat::rsockets
