// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/compact_mutex.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace weft::verbs::detail {
namespace {

TEST(CompactMutex, IsSmall) { EXPECT_EQ(sizeof(CompactMutex), 4U); }

TEST(CompactMutex, IsHeldByOne) {
  CompactMutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// With more threads than processors some of them sleep, and each has to be woken.
TEST(CompactMutex, NoTwoInsideAndNobodyForgotten) {
  constexpr std::uint64_t kRounds = 20000;
  CompactMutex mutex;
  std::uint64_t count = 0;
  {
    std::array<std::jthread, 8> threads;
    for (auto& thread : threads) {
      thread = std::jthread([&] {
        for (std::uint64_t i = 0; i < kRounds; ++i) {
          const std::lock_guard lock(mutex);
          ++count;
          if (i % 64 == 0) std::this_thread::yield();
        }
      });
    }
  }
  EXPECT_EQ(count, 8 * kRounds);
}

}  // namespace
}  // namespace weft::verbs::detail
