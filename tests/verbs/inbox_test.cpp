// SPDX-License-Identifier: Apache-2.0
// What came and was not taken yet: kept with its buffer or without, and how much the next read brings.
#include "verbs/stream/inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::verbs::detail {
namespace {

struct InboxTest : testing::Test {
  void put(std::size_t octets) {
    inbox.open(pool);
    std::ranges::generate(inbox.room().first(octets), [this] { return std::byte(next++); });
    inbox.add(octets);
  }
  std::vector<int> staged() {
    inbox.open(pool);
    std::vector<int> values;
    for (const std::byte octet : inbox.staged()) values.push_back(std::to_integer<int>(octet));
    return values;
  }

  BufferPool pool;
  Inbox inbox;
  unsigned char next = 1;
};
using Values = std::vector<int>;

TEST_F(InboxTest, TakesFromTheFront) {
  put(5);
  inbox.take(2);
  EXPECT_EQ(staged(), (Values{3, 4, 5}));
  put(1);
  inbox.take(4);
  EXPECT_TRUE(inbox.empty());
}

TEST_F(InboxTest, WithNothingInItGivesItsBufferBack) {
  put(3);
  inbox.take(3);
  EXPECT_EQ(pool.stagings_out(), 1U);
  inbox.park(pool);
  EXPECT_EQ(pool.stagings_out(), 0U);
  EXPECT_FALSE(inbox.is_open());
}

TEST_F(InboxTest, KeepsHalfAFrameInItsBuffer) {
  put(3);
  inbox.park(pool);
  EXPECT_TRUE(inbox.is_open());
  EXPECT_EQ(staged(), (Values{1, 2, 3}));
}

// The application may let it wait for long.
TEST_F(InboxTest, CarriesWhatWaitsForAReceiveWithoutABuffer) {
  put(3);
  inbox.stalled = true;
  inbox.park(pool);
  EXPECT_FALSE(inbox.is_open());
  EXPECT_FALSE(inbox.empty());
  EXPECT_EQ(staged(), (Values{1, 2, 3}));
}

TEST_F(InboxTest, ReadsLessWhereFramesAreSmallAndMoreWhereTheyAreNot) {
  inbox.open(pool);
  const std::size_t first = inbox.room_to_read().size();
  inbox.learn(first, 1);
  EXPECT_EQ(inbox.room_to_read().size(), 2 * first);
  inbox.learn(2 * first, 100 * Inbox::kMostFrames);
  EXPECT_EQ(inbox.room_to_read().size(), 4096U);
  inbox.learn(100, 1);
  EXPECT_EQ(inbox.room_to_read().size(), 4096U) << "it brought less than it may have";
}

TEST_F(InboxTest, ReadsTheFrameUnderWayAlwaysAndBehindALandedPayloadNoMore) {
  inbox.open(pool);
  inbox.learn(1 << 18, 100 * Inbox::kMostFrames);
  inbox.misses(60000);
  EXPECT_EQ(inbox.room_to_read().size(), 60000 + Inbox::kNextHeader);
  inbox.misses(10);
  inbox.has_landed();
  EXPECT_EQ(inbox.room_to_read().size(), 10 + Inbox::kNextHeader);
  EXPECT_EQ(inbox.room_to_read().size(), 4096U) << "once";
}

}  // namespace
}  // namespace weft::verbs::detail
