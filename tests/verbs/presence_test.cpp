// SPDX-License-Identifier: Apache-2.0
// Presence over a virtual clock, and what a poller does with the time that it has.
#include "verbs/progress/presence.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "verbs/progress/spare_time.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using Gaps = std::vector<std::chrono::microseconds>;

// The time passes as told, and a call comes. The number of the call with which it arrives; 0: it does not.
int arrives_with(Presence& presence, const Gaps& gaps) {
  Presence::TimePoint now(1h);
  int call = 0;
  for (const auto gap : gaps) {
    now += gap;
    ++call;
    if (presence.come(now) && presence.arrive()) return call;
  }
  return 0;
}

struct PresenceRow {
  const char* what;
  Presence::Rule rule;
  Gaps gaps;
  int arrives_with;
};

const std::vector<PresenceRow> kPresenceRows{
    {"a poller that spins", Presence::kPoller, Gaps(20, 1us), 8},
    {"as close as may be", Presence::kPoller, Gaps(20, 200us), 8},
    {"polls now and then", Presence::kPoller, Gaps(100, 201us), 0},
    {"seven and a pause", Presence::kPoller, {1us, 1us, 1us, 1us, 1us, 1us, 1us, 1ms, 1us, 1us, 1us, 1us, 1us, 1us}, 0},
    {"and one more",
     Presence::kPoller,
     {1us, 1us, 1us, 1us, 1us, 1us, 1us, 1ms, 1us, 1us, 1us, 1us, 1us, 1us, 1us},
     15},
    {"a waiter", Presence::kWaiter, {1us}, 1},
    {"a proxy", Presence::kProxy, Gaps(5, 1000us), 4},
    {"waits with long pauses", Presence::kProxy, Gaps(50, 1001us), 0},
};

TEST(Presence, BeginsByThisTable) {
  for (const PresenceRow& row : kPresenceRows) {
    Presence presence(row.rule);
    EXPECT_EQ(arrives_with(presence, row.gaps), row.arrives_with) << row.what;
    EXPECT_EQ(presence.is_here(), row.arrives_with != 0) << row.what;
  }
}

TEST(Presence, ACallThatDoesNotCountKeepsTheRow) {
  Presence presence(Presence::kProxy);
  Presence::TimePoint now(1h);
  EXPECT_FALSE(presence.has_row());
  for (int wait = 1; wait <= 4; ++wait) {
    EXPECT_EQ(presence.come(now += 600us), wait == 4) << wait;
    EXPECT_TRUE(presence.has_row());
    presence.pass(now += 600us);
  }
}

TEST(Presence, ArrivesOnceAndLeavesOnce) {
  Presence presence(Presence::kPoller);
  EXPECT_FALSE(presence.leave()) << "it was not there";
  EXPECT_EQ(arrives_with(presence, Gaps(8, 1us)), 8);
  EXPECT_FALSE(presence.arrive()) << "it is there";
  EXPECT_TRUE(presence.leave());
  EXPECT_FALSE(presence.is_here());
  EXPECT_FALSE(presence.leave());
  EXPECT_EQ(arrives_with(presence, Gaps(20, 1us)), 8) << "a row begins anew";
}

TEST(Presence, TellsTheTickWhetherItCame) {
  Presence presence(Presence::kPoller);
  EXPECT_FALSE(presence.came());
  arrives_with(presence, Gaps(8, 1us));
  EXPECT_TRUE(presence.came());
  EXPECT_FALSE(presence.came());
  presence.stay();
  EXPECT_TRUE(presence.came());
}

// How many of its next polls look elsewhere.
int looks_of(SpareTime& time, int polls) {
  int looks = 0;
  for (int i = 0; i < polls; ++i) looks += time.looks_elsewhere() ? 1 : 0;
  return looks;
}

// What it finds in the first tick is not known before.
TEST(SpareTime, LooksElsewhereTheMoreTheLessItPolls) {
  SpareTime time;
  EXPECT_EQ(looks_of(time, 1000), 250);
  EXPECT_TRUE(time.had_time());
  EXPECT_EQ(looks_of(time, 200), 50);
  EXPECT_TRUE(time.had_time());
  EXPECT_EQ(looks_of(time, 20), 10);
  EXPECT_TRUE(time.had_time());
  EXPECT_EQ(looks_of(time, 19), 19);
  EXPECT_FALSE(time.had_time()) << "others' requests would wait too long";
  EXPECT_FALSE(time.had_time());
}

// A clock costs a tenth of an empty poll.
TEST(SpareTime, LooksAtTheClockNowAndThen) {
  SpareTime time;
  int looks = 0;
  for (int i = 0; i < 160; ++i) {
    static_cast<void>(time.looks_elsewhere());
    looks += time.looks_at_clock() ? 1 : 0;
  }
  EXPECT_EQ(looks, 10);
}

}  // namespace
}  // namespace weft::verbs::detail
