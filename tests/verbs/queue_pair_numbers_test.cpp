// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/queue_pair_numbers.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::verbs::detail {
namespace {

TEST(QueuePairNumbers, CountFromOneAndWrapBehindTheHighest) {
  QueuePairNumbers numbers(3, 0);
  for (const std::uint32_t expected : {1U, 2U, 3U}) EXPECT_EQ(numbers.take(), expected);
  EXPECT_EQ(numbers.take(), std::nullopt);
  numbers.give_back(2);
  EXPECT_EQ(numbers.take(), 2U);
}

TEST(QueuePairNumbers, AreNotGivenTwiceAtATime) {
  QueuePairNumbers numbers(8, 0);
  std::vector<std::uint32_t> kept;
  for (int i = 0; i < 4; ++i) kept.push_back(numbers.take().value());  // 1 to 4
  for (int round = 0; round < 40; ++round) {
    const auto one = numbers.take();
    ASSERT_TRUE(one);
    EXPECT_GT(*one, kept.back());
    numbers.give_back(*one);
  }
}

// 24 bits, from the end of their range on.
TEST(QueuePairNumbers, PassTheEndOfTheirRange) {
  QueuePairNumbers numbers;
  EXPECT_EQ(numbers.take(), 1U);
  numbers.continue_behind(0xFFFFFE);
  EXPECT_EQ(numbers.take(), 0xFFFFFFU);
  EXPECT_EQ(numbers.take(), 2U);
}

TEST(QueuePairNumbers, RestWhenTheyAreFreed) {
  QueuePairNumbers numbers(8, 3);
  for (std::uint32_t i = 1; i <= 8; ++i) EXPECT_EQ(numbers.take(), i);
  for (const std::uint32_t freed : {5U, 6U, 7U}) numbers.give_back(freed);
  numbers.give_back(2);
  EXPECT_EQ(numbers.take(), 5U);  // the one that has rested longest, though it is the last to be met
  numbers.continue_behind(5);
  numbers.give_back(8);
  EXPECT_EQ(numbers.take(), 6U);
}

TEST(QueuePairNumbers, AsManyRestAsAreSaidTo) {
  QueuePairNumbers numbers(8, 1);
  for (const std::uint32_t expected : {1U, 2U}) EXPECT_EQ(numbers.take(), expected);
  numbers.give_back(1);
  numbers.continue_behind(8);
  EXPECT_EQ(numbers.take(), 3U);
}

// Better one that rests than none.
TEST(QueuePairNumbers, RestNoLongerThanTheOthersLast) {
  QueuePairNumbers numbers(2, 100);
  for (std::uint32_t i = 1; i <= 2; ++i) EXPECT_EQ(numbers.take(), i);
  numbers.give_back(2);
  numbers.give_back(1);
  EXPECT_EQ(numbers.take(), 2U);
  EXPECT_EQ(numbers.take(), 1U);
  EXPECT_EQ(numbers.take(), std::nullopt);
}

}  // namespace
}  // namespace weft::verbs::detail
