// SPDX-License-Identifier: Apache-2.0
// How many lines of a kind are shown, in virtual time.
#include "verbs/log/log_budget.hpp"

#include <gtest/gtest.h>

namespace weft::verbs::detail::test {
namespace {

using namespace std::chrono_literals;

constexpr LogRate kRate{.burst = 3, .each = 100ms};

std::uint64_t taken(LogBudget& budget, Instant at, int tries) {
  std::uint64_t shown = 0;
  for (int i = 0; i < tries; ++i) shown += budget.take(at) ? 1 : 0;
  return shown;
}

TEST(LogBudget, ABurstAndThenOneEachTime) {
  LogBudget budget(kRate);
  const Instant start{5s};
  EXPECT_EQ(taken(budget, start, 10), 3U);
  EXPECT_EQ(taken(budget, start + 99ms, 10), 0U);
  EXPECT_EQ(taken(budget, start + 100ms, 10), 1U);
  EXPECT_EQ(taken(budget, start + 350ms, 10), 2U);
  EXPECT_EQ(taken(budget, start + 399ms, 10), 0U);
  EXPECT_EQ(taken(budget, start + 400ms, 10), 1U);
}

// A budget with all of its burst saves nothing: the time until the next begins with the first line.
TEST(LogBudget, CountsFromTheFirstLineOn) {
  LogBudget budget(kRate);
  EXPECT_EQ(taken(budget, Instant{5s} + 50ms, 3), 3U);
  EXPECT_EQ(taken(budget, Instant{5s} + 149ms, 1), 0U);
  EXPECT_EQ(taken(budget, Instant{5s} + 150ms, 2), 1U);
}

TEST(LogBudget, IsNeverMoreThanABurst) {
  LogBudget budget(kRate);
  EXPECT_EQ(taken(budget, Instant{1s}, 2), 2U);
  EXPECT_EQ(taken(budget, Instant{1h}, 10), 3U);
  EXPECT_EQ(taken(budget, Instant{1h} + 100ms, 10), 1U);
}

TEST(LogBudget, TellsOfTheFirstThatIsWithheldAndCountsAll) {
  LogBudget budget(kRate);
  EXPECT_FALSE(budget.due());
  EXPECT_TRUE(budget.withhold(Instant{2s}));
  EXPECT_FALSE(budget.withhold(Instant{2s} + 500ms));
  EXPECT_EQ(budget.due(), Instant{3s});
  EXPECT_EQ(budget.take_withheld(), 2U);
  EXPECT_FALSE(budget.due());
  EXPECT_TRUE(budget.withhold(Instant{9s}));
}

TEST(LogBudget, OfASeldomLineIsToldAsSeldom) {
  LogBudget budget({.burst = 1, .each = 10s});
  budget.withhold(Instant{2s});
  EXPECT_EQ(budget.due(), Instant{12s});
}

}  // namespace
}  // namespace weft::verbs::detail::test
