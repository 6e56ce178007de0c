// SPDX-License-Identifier: Apache-2.0
// Work that is asked for while another thread is at it is done once more.
#include "verbs/progress/coalesced_work.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace weft::verbs::detail {
namespace {

TEST(CoalescedWork, IsDoneOnceForEachCallerWhoFindsNobody) {
  CoalescedWork work;
  int done = 0;
  for (int i = 0; i < 3; ++i) work.run([&] { ++done; });
  EXPECT_EQ(done, 3);
  EXPECT_FALSE(work.runs());
}

TEST(CoalescedWork, IsDoneOnceMoreForAllWhoAskMeanwhile) {
  CoalescedWork work;
  int done = 0;
  work.run([&] {
    EXPECT_TRUE(work.runs());
    if (++done != 1) return;
    for (int i = 0; i < 5; ++i) std::thread([&] { work.run([&] { FAIL() << "two at a time"; }); }).join();
  });
  EXPECT_EQ(done, 2);
  EXPECT_FALSE(work.runs());
}

// Whatever the order: what was put down before asking is seen by the work.
TEST(CoalescedWork, LosesNoRequest) {
  constexpr int kThreads = 4, kEach = 50000;
  CoalescedWork work;
  std::atomic<int> put_down{0};
  int at_a_time = 0, seen = 0;
  {
    std::array<std::jthread, kThreads> threads;
    for (auto& one : threads) {
      one = std::jthread([&] {
        for (int i = 0; i < kEach; ++i) {
          ++put_down;
          work.run([&] {
            EXPECT_EQ(++at_a_time, 1);
            seen = put_down;
            --at_a_time;
          });
        }
      });
    }
  }
  EXPECT_EQ(seen, kThreads * kEach);
}

}  // namespace
}  // namespace weft::verbs::detail
