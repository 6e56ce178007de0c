// SPDX-License-Identifier: Apache-2.0
#include "common/bounded_ring.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace weft {
namespace {

TEST(BoundedRing, IsFirstInFirstOutAcrossGrowthAndWrap) {
  BoundedRing<int> ring(100);
  int pushed = 0;
  int popped = 0;
  for (int round = 0; round < 500; ++round) {
    for (int i = 0; i < 7 && !ring.full(); ++i) EXPECT_TRUE(ring.push(pushed++));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ring.pop(), popped++);
  }
  EXPECT_EQ(static_cast<int>(ring.size()), pushed - popped);
}

TEST(BoundedRing, RefusesMoreThanItsBound) {
  BoundedRing<int> ring(3);
  EXPECT_TRUE(ring.push(1) && ring.push(2) && ring.push(3));
  EXPECT_FALSE(ring.push(4));
  EXPECT_EQ(ring.room(), 0U);
  EXPECT_EQ(ring[2], 3);
}

TEST(BoundedRing, LetsGoOfWhatItPops) {
  auto shared = std::make_shared<int>(1);
  BoundedRing<std::shared_ptr<int>> ring(4);
  ring.push(shared);
  EXPECT_EQ(shared.use_count(), 2);
  ring.pop();
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(BoundedRing, LetsGoOfWhatItDrops) {
  auto shared = std::make_shared<int>(1);
  BoundedRing<std::shared_ptr<int>> ring(4);
  ring.push(shared);
  ring.drop();
  EXPECT_EQ(shared.use_count(), 1);
  EXPECT_TRUE(ring.empty());
}

TEST(BoundedRing, ExtendsWithinItsBoundAndInOrder) {
  BoundedRing<int> ring(3);
  for (int round = 0; round < 10; ++round) {
    ring.extend() = 2 * round;
    ring.extend() = 2 * round + 1;
    EXPECT_EQ(ring.pop(), 2 * round);
    EXPECT_EQ(ring.pop(), 2 * round + 1);
  }
  for (int i = 0; i < 3; ++i) ring.extend() = i;
  EXPECT_DEATH(ring.extend(), "");
}

}  // namespace
}  // namespace weft
