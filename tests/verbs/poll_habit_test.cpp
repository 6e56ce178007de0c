// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/poll_habit.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;

// A thread that is switched away in between starts anew.
int polls_until_it_spins(PollHabit& habit) {
  int polls = 1;
  while (!habit.notice()) ++polls;
  return polls;
}

// How many of its next polls look elsewhere.
int looks_of(PollHabit& habit, int polls) {
  int looks = 0;
  for (int i = 0; i < polls; ++i) looks += habit.has_a_moment() ? 1 : 0;
  return looks;
}

TEST(PollHabit, ManyPollsOneCloseToTheOtherAreOne) {
  PollHabit habit;
  EXPECT_GE(polls_until_it_spins(habit), 8);
  EXPECT_TRUE(habit.spins());
  EXPECT_FALSE(habit.notice()) << "it is told once";
}

TEST(PollHabit, AsManyNowAndThenAreNone) {
  PollHabit habit;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(habit.notice());
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(habit.spins());
}

TEST(PollHabit, Ends) {
  PollHabit habit;
  EXPECT_FALSE(habit.end()) << "there was none";
  polls_until_it_spins(habit);
  EXPECT_TRUE(habit.end());
  EXPECT_FALSE(habit.spins());
  EXPECT_FALSE(habit.end());
  EXPECT_GE(polls_until_it_spins(habit), 8) << "from the start";
}

TEST(PollHabit, TellsTheTickWhetherItCameBy) {
  PollHabit habit;
  polls_until_it_spins(habit);
  EXPECT_TRUE(habit.came_by());
  EXPECT_FALSE(habit.came_by());
  EXPECT_FALSE(habit.notice());
  EXPECT_TRUE(habit.came_by());
}

// All the time and rarely; what it finds in the first tick is not known before.
TEST(PollHabit, LooksElsewhereTheMoreTheLessItPolls) {
  PollHabit habit;
  EXPECT_EQ(looks_of(habit, 1000), 250);
  EXPECT_TRUE(habit.had_time());
  EXPECT_EQ(looks_of(habit, 200), 50);
  EXPECT_TRUE(habit.had_time());
  EXPECT_EQ(looks_of(habit, 20), 10);
  EXPECT_TRUE(habit.had_time());
  EXPECT_EQ(looks_of(habit, 19), 19);
  EXPECT_FALSE(habit.had_time()) << "others' requests would wait too long";
  EXPECT_FALSE(habit.had_time());
}

// Of the polls that find nothing, for a clock costs a tenth of one.
TEST(PollHabit, LooksAtTheClockNowAndThen) {
  PollHabit habit;
  polls_until_it_spins(habit);
  int looks = 0;
  for (int i = 0; i < 160; ++i) {
    static_cast<void>(habit.has_a_moment());
    looks += habit.looks_at_clock() ? 1 : 0;
  }
  EXPECT_EQ(looks, 10);
}

}  // namespace
}  // namespace weft::verbs::detail
