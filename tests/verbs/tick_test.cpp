// SPDX-License-Identifier: Apache-2.0
// The tick that finds out whether the application has gone: by whom, how often, and until when. Over a virtual clock.
#include "verbs/progress/tick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/transport/support.hpp"
#include "verbs/progress/tuning.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using Clock = Driver::Clock;

Clock::time_point virtual_now{};

// Its thread never goes, or has by the tick of this number.
class Counter final : public Driver {
 public:
  explicit Counter(int gone_at = 0) : gone_at_(gone_at) {}

  bool is_over() override {
    if (ticks_ != 0) closest_ = std::min(closest_, virtual_now - last_);
    last_ = virtual_now;
    return ++ticks_ == gone_at_;
  }
  [[nodiscard]] int ticks() const { return ticks_; }
  [[nodiscard]] Clock::duration closest() const { return closest_; }  // of two ticks

 private:
  const int gone_at_;
  int ticks_ = 0;
  Clock::time_point last_{};
  Clock::duration closest_ = Clock::duration::max();
};

// The test is the thread that polls and the timer, too.
struct Ticking : testing::Test {
  Ticking() {
    virtual_now = Clock::time_point(1h);
    tick.open([this](Clock::time_point at) { set_alarm(at); });
  }
  // A thread that sets a timer may lose its processor before it goes on, and the timer goes off meanwhile.
  void set_alarm(Clock::time_point at) {
    EXPECT_GT(at, virtual_now) << "set for a time that has passed when it is set";
    pending = at;
    if (std::exchange(hold_up, false)) pass(at - virtual_now);
  }
  void pass(Clock::duration time) {
    const auto end = virtual_now + time;
    while (pending && *pending <= end) {
      virtual_now = std::max(virtual_now, *std::exchange(pending, std::nullopt));
      ++alarms;
      tick.alarm();
    }
    virtual_now = std::max(virtual_now, end);
  }
  void poll_for(Clock::duration time, Clock::duration each = 100us) {
    for (const auto end = virtual_now + time; virtual_now < end;) {
      pass(each);
      tick.tick_if_due();
    }
  }

  int told = 0;
  bool told_of_time = false;
  Tick tick{[this](bool some_have_time) { ++told, told_of_time = some_have_time; },
            []() noexcept { return virtual_now; }};
  std::optional<Clock::time_point> pending{};
  bool hold_up = false;
  int alarms = 0;
};

TEST_F(Ticking, WhoPollsDoesTheTick) {
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  poll_for(50ms);
  EXPECT_EQ(driver->ticks(), 50);
  EXPECT_EQ(alarms, 0);
  EXPECT_EQ(driver->closest(), tuning::kTick);
}

// Also after a long time in which another thread did.
TEST_F(Ticking, TheTimerDoesItWhereNobodyDoes) {
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  for (int round = 0; round < 3; ++round) {
    const int before = driver->ticks();
    pass(20ms);
    EXPECT_GE(driver->ticks(), before + 11);
    poll_for(30ms);
  }
  EXPECT_GE(driver->closest(), tuning::kTick);
}

struct PatienceRow {
  int ticks_by_pollers;  // in a row
  Clock::duration alarm_after;
};
const std::vector<PatienceRow> kPatienceRows{
    {0, tuning::kTick + tuning::kPatience},
    {1, tuning::kTick + tuning::kPatience},
    {tuning::kManyTicks - 1, tuning::kTick + tuning::kPatience},
    {tuning::kManyTicks, tuning::kTick + tuning::kLongPatience},
    {tuning::kManyTicks + 5, tuning::kTick + tuning::kLongPatience},
};

TEST_F(Ticking, TheTimerHasPatienceByThisTable) {
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  for (const PatienceRow& row : kPatienceRows) {
    poll_for(row.ticks_by_pollers * tuning::kTick, tuning::kTick);
    const int before = driver->ticks();
    ASSERT_TRUE(pending);
    EXPECT_EQ(*pending - virtual_now, row.alarm_after) << row.ticks_by_pollers;
    pass(row.alarm_after);
    EXPECT_EQ(driver->ticks(), before + 1) << "by the timer: a row begins anew";
  }
}

TEST_F(Ticking, IsOverdueWhenItsAlarmMustHaveGoneOff) {
  EXPECT_FALSE(tick.overdue(virtual_now + 1h)) << "nobody is watched";
  tick.watch(std::make_shared<Counter>());
  const auto due = virtual_now + tuning::kTick;
  EXPECT_FALSE(tick.overdue(due + tuning::kLongPatience));
  EXPECT_EQ(tick.overdue(due + tuning::kLongPatience + 1ns), due);
}

TEST_F(Ticking, TellsWhetherSomeThatStayHaveTime) {
  struct Idle final : Driver {
    bool is_over() override { return over; }
    [[nodiscard]] bool has_time() noexcept override { return true; }
    bool over = false;
  };
  tick.watch(std::make_shared<Counter>());
  poll_for(1ms);
  EXPECT_FALSE(told_of_time);
  const auto idle = std::make_shared<Idle>();
  tick.watch(idle);
  poll_for(1ms);
  EXPECT_TRUE(told_of_time);
  idle->over = true;
  poll_for(1ms);
  EXPECT_FALSE(told_of_time) << "it has gone";
}

TEST_F(Ticking, WhoFindsNoMemoryIsAskedAgain) {
  struct Short final : Driver {
    bool is_over() override {
      if (++asked == 1) throw std::bad_alloc();
      return true;
    }
    int asked = 0;
  };
  const auto driver = std::make_shared<Short>();
  tick.watch(driver);
  pass(100ms);
  EXPECT_EQ(driver->asked, 2);
  EXPECT_FALSE(tick.any());
}

// An alarm on its way while a poller does the tick.
TEST_F(Ticking, AnAlarmThatComesTooEarlyAsksNoDriver) {
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  poll_for(tuning::kTick);
  tick.alarm();
  EXPECT_EQ(driver->ticks(), 1);
  EXPECT_TRUE(pending);
}

TEST_F(Ticking, HeldUpBehindTheAlarmThatItSet) {
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  virtual_now += tuning::kTick;
  hold_up = true;
  tick.tick_if_due();
  EXPECT_EQ(driver->ticks(), 2) << "its own tick, and the one that the alarm asked for meanwhile";
  EXPECT_EQ(alarms, 1);
  ASSERT_TRUE(pending) << "nothing will ever do the next tick";
}

TEST_F(Ticking, HeldUpInTheTickItself) {
  struct Slow final : Driver {
    bool is_over() override {
      virtual_now += 10ms;
      return false;
    }
  };
  tick.watch(std::make_shared<Slow>());
  virtual_now += tuning::kTick;
  pending.reset();
  tick.tick_if_due();
  ASSERT_TRUE(pending) << "nothing will ever do the next tick";
}

// It comes while it is asked, or one that is asked later comes back: neither is forgotten, nor asked twice.
TEST_F(Ticking, WhileOthersBegin) {
  struct Comes final : Driver {
    explicit Comes(std::function<void()> then) : then_(std::move(then)) {}
    bool is_over() override {
      ++asked;
      then_();
      return true;
    }
    const std::function<void()> then_;
    int asked = 0;
  };
  const auto late = std::make_shared<Counter>();
  std::shared_ptr<Comes> comes_back;
  comes_back = std::make_shared<Comes>([&] {
    tick.watch(late);
    if (comes_back->asked == 1) tick.watch(comes_back);
  });
  tick.watch(late);
  tick.watch(comes_back);
  for (int number = 1; number <= 3; ++number) {
    poll_for(tuning::kTick, tuning::kTick);
    EXPECT_EQ(comes_back->asked, std::min(number, 2)) << "then it has gone";
    EXPECT_EQ(late->ticks(), number);
  }
}

TEST_F(Ticking, WhoHasGoneIsNotAskedAgain) {
  const auto driver = std::make_shared<Counter>(3);
  tick.watch(driver);
  tick.watch(driver);
  pass(10ms);
  poll_for(10ms);
  EXPECT_EQ(driver->ticks(), 3);
  EXPECT_EQ(told, 3) << "watched twice, or still ticking";
  EXPECT_FALSE(pending) << "an idle process has no tick";
  tick.watch(driver);
  pass(2ms);
  EXPECT_EQ(driver->ticks(), 4);
}

TEST_F(Ticking, AChildOfForkLeavesThemToItsParent) {
  const auto driver = std::make_shared<Counter>();
  tick.leave_to_parent();
  tick.watch(driver);
  poll_for(10ms);
  EXPECT_EQ(driver->ticks(), 0);
  EXPECT_FALSE(pending);
}

// The real timer.
TEST(LiveTick, IsDoneByTheReactorsThread) {
  struct Tells final : Driver {
    bool is_over() override { return told.put(std::this_thread::get_id()), false; }
    transport::test::Mailbox<std::thread::id> told;
  };
  const auto driver = std::make_shared<Tells>();
  transport::Reactor reactor = transport::Reactor::create().value();
  Tick tick([](bool) {});
  ASSERT_FALSE(tick.open(reactor));
  std::thread thread([&] { reactor.run(); });
  tick.watch(driver);
  for (int number = 0; number < 5; ++number) EXPECT_EQ(driver->told.take(), thread.get_id());
  reactor.stop();
  thread.join();
}

}  // namespace
}  // namespace weft::verbs::detail
