// SPDX-License-Identifier: Apache-2.0
#include "ddp/segmenter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace weft::ddp {
namespace {

constexpr std::uint32_t kMulpdu = 1500;

TEST(Segmenter, MessageOfOneOctetMoreThanFitsMakesTwoSegments) {
  UntaggedSegmenter send(0x43, 0, 0, {1}, 1483);
  const auto first = send.next(kMulpdu);
  EXPECT_EQ(first.length, 1482U);
  EXPECT_FALSE(first.header.last);
  EXPECT_FALSE(send.done());
  const auto second = send.next(kMulpdu);
  EXPECT_EQ(second.length, 1U);
  EXPECT_EQ(second.offset, 1482U);
  EXPECT_EQ(second.header.offset.value, 1482U);
  EXPECT_TRUE(second.header.last);
  EXPECT_TRUE(send.done());
}

TEST(Segmenter, ExactFitIsOneSegment) {
  TaggedSegmenter write(0x40, {7}, {100}, 1486);
  EXPECT_EQ(write.next_size(kMulpdu), kMulpdu);
  EXPECT_TRUE(write.next(kMulpdu).header.last);
  EXPECT_TRUE(write.done());
}

TEST(Segmenter, NextSizeTellsTheSegmentThatFollows) {
  TaggedSegmenter write(0x40, {7}, {100}, 5000);
  while (!write.done()) {
    const std::uint32_t size = write.next_size(kMulpdu);
    EXPECT_EQ(write.next(kMulpdu).length + TaggedLayout::kSize, size);
  }
}

TEST(Segmenter, NothingToCutIsDone) {
  EXPECT_TRUE(TaggedSegmenter().done());
  EXPECT_TRUE(UntaggedSegmenter().done());
}

// The longest message there is: its last octet goes out in a segment whose offset still has 32 bits.
TEST(Segmenter, LongestMessage) {
  constexpr std::uint32_t kLongest = 0xffffffff;
  constexpr std::uint32_t kLargestMulpdu = 64768;
  UntaggedSegmenter send(0x43, 0, 0, {1}, kLongest);
  std::uint64_t total = 0;
  while (!send.done()) {
    const auto segment = send.next(kLargestMulpdu);
    ASSERT_EQ(segment.offset, total);
    total += segment.length;
    ASSERT_EQ(segment.header.last, total == kLongest);
  }
  EXPECT_EQ(total, kLongest);
}

// DDP-3-02: whatever the MULPDU does between segments, the pieces are gapless and each fits the MULPDU of its time.
TEST(Segmenter, ToleratesAnyChangeOfMulpdu) {
  std::mt19937 engine(2);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t length = random() % 100000;
    TaggedSegmenter write(0x40, {9}, {0xffffffffffff0000}, length);
    std::uint32_t sent = 0;
    while (!write.done()) {
      const std::uint32_t mulpdu = kLeastMulpdu + random() % 64000;
      const auto segment = write.next(mulpdu);
      ASSERT_EQ(segment.offset, sent);
      ASSERT_EQ(segment.header.offset.value, 0xffffffffffff0000 + sent);
      ASSERT_LE(segment.length + TaggedLayout::kSize, mulpdu);
      sent += segment.length;
      ASSERT_EQ(segment.header.last, write.done());
    }
    ASSERT_EQ(sent, length);
  }
}

TEST(SegmenterDeathTest, RefusesAMulpduThatMpaNeverGives) {
  TaggedSegmenter write(0x40, {9}, {0}, 1000);
  EXPECT_DEATH(static_cast<void>(write.next(kLeastMulpdu - 1)), "");
}

}  // namespace
}  // namespace weft::ddp
