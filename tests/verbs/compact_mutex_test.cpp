// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/compact_mutex.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <semaphore>
#include <thread>

#include "tests/transport/support.hpp"

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

// A second one would find it taken, and sleep again.
TEST(CompactMutex, OneIsWokenOfThoseWhoSleep) {
  CompactMutex mutex;
  std::array<std::atomic<pid_t>, 2> threads{};
  std::array<long, 2> slept{};
  std::atomic<int> holder{-1};
  std::counting_semaphore<2> leave{0};
  std::unique_lock ours(mutex);
  std::array<std::jthread, 2> sleepers;
  for (std::size_t i = 0; i < sleepers.size(); ++i) {
    sleepers[i] = std::jthread([&, i] {
      threads[i] = ::gettid();
      const std::lock_guard lock(mutex);
      holder = static_cast<int>(i);
      leave.acquire();
    });
    while (threads[i] == 0) std::this_thread::yield();
    slept[i] = transport::test::sleeps_of(threads[i]);
  }
  ours.unlock();
  while (holder < 0) std::this_thread::yield();
  const std::size_t other = holder == 0 ? 1 : 0;
  EXPECT_EQ(transport::test::sleeps_of(threads[other]), slept[other]);
  leave.release(2);
}

// A thread that gives it up and takes it again at once is mostly faster than one that has to be woken first: that one
// would have to be lucky in each of the rounds.
TEST(CompactMutex, WhoHasWaitedLongIsGivenIt) {
  for (int round = 0; round < 50; ++round) {
    CompactMutex mutex;
    std::atomic<pid_t> thread{};
    std::atomic<bool> had{false};
    std::unique_lock ours(mutex);
    const std::jthread other([&] {
      thread = ::gettid();
      const std::lock_guard lock(mutex);
      had = true;
    });
    // Once for it to see how long it has waited, once for it to be given the lock.
    for (int turn = 0; turn < 2 && !had; ++turn) {
      while (thread == 0) std::this_thread::yield();
      transport::test::sleeps_of(thread);  // for several milliseconds
      ours.unlock();
      ours.lock();
    }
    EXPECT_TRUE(had);
    ours.unlock();
  }
}

}  // namespace
}  // namespace weft::verbs::detail
