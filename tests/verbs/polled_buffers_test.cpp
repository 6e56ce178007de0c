// SPDX-License-Identifier: Apache-2.0
// A thread that polls all the time keeps the buffers of few connections in the cache; an idle connection holds none.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <list>

#include "loopback.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::test {
namespace {

std::size_t stagings_out() {
  const auto runtime = must(detail::Runtime::acquire(), "runtime");
  return runtime->buffers().stagings_out();
}

TEST(PolledBuffers, AreKeptUntilThePollingEnds) {
  Pair pair;
  wait_until([] { return stagings_out() == 0; }, "the startup is over at both ends");
  std::array<WorkCompletion, 1> completions;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (stagings_out() == 0 && std::chrono::steady_clock::now() < patience) {
    for (int i = 0; i < 100; ++i) ASSERT_EQ(must(pair.client.cq.poll(completions), "poll"), 0U);
  }
  EXPECT_EQ(stagings_out(), 1U);
  must(pair.client.cq.arm(Arm::kAll), "arm");  // about to sleep
  EXPECT_EQ(stagings_out(), 0U);
}

// An application may poll many queues by turns, with a connection each.
TEST(PolledBuffers, AreKeptBySomeOfMany) {
  constexpr std::size_t kPairs = 48;
  std::list<Pair> pairs(kPairs);
  std::array<WorkCompletion, 1> completions;
  for (int round = 0; round < 2000; ++round) {
    for (auto& pair : pairs) ASSERT_EQ(must(pair.client.cq.poll(completions), "poll"), 0U);
  }
  EXPECT_LE(stagings_out(), detail::BufferPool::kMaxKept);
}

}  // namespace
}  // namespace weft::verbs::test
