// SPDX-License-Identifier: Apache-2.0
// The tick that finds out whether the application has gone: by whom, how often, and until when.
#include "verbs/progress/tick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "verbs/progress/tuning.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using Clock = Driver::Clock;

// Its thread never goes, or has by the tick of this number.
class Counter final : public Driver {
 public:
  explicit Counter(std::size_t gone_at = 0) : gone_at_(gone_at) {}

  bool is_over() override {
    const auto now = Clock::now();
    if (std::this_thread::get_id() == maker_) ++by_maker_;
    if (last_ != Clock::time_point()) closest_ = std::min(closest_.load(), now - last_);
    last_ = now;
    return ++ticks_ == gone_at_;
  }
  [[nodiscard]] std::size_t ticks() const { return ticks_; }
  [[nodiscard]] std::size_t by_maker() const { return by_maker_; }
  [[nodiscard]] Clock::duration closest() const { return closest_; }  // of two ticks

 private:
  const std::size_t gone_at_;
  const std::thread::id maker_ = std::this_thread::get_id();
  std::atomic<std::size_t> ticks_{0}, by_maker_{0};
  Clock::time_point last_{};
  std::atomic<Clock::duration> closest_{Clock::duration::max()};
};

struct Drivers : testing::Test {
  Drivers() {
    EXPECT_FALSE(tick.open(reactor));
    thread = std::thread([this] { reactor.run(); });
  }
  ~Drivers() override {
    reactor.stop();
    thread.join();
  }
  void poll_for(std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) tick.tick_if_due();
  }

  transport::Reactor reactor = transport::Reactor::create().value();
  std::atomic<int> told = 0;
  Tick tick{[this](bool) { ++told; }};
  std::thread thread;
};

// On a busy machine it is away for a while now and then, and the timer does what is due.
TEST_F(Drivers, WhoPollsDoesTheTick) {
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  for (const auto end = Clock::now() + 10s; driver->by_maker() < 50 && Clock::now() < end;) poll_for(1ms);
  ASSERT_GE(driver->by_maker(), 50U);
  EXPECT_GE(driver->closest(), tuning::kTick);
  EXPECT_GE(driver->by_maker() * 4, driver->ticks()) << "the timer did most of them";
}

// Also behind a long time in which another thread did.
TEST_F(Drivers, TheTimerDoesItWhereNobodyDoes) {
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  for (int round = 0; round < 3; ++round) {
    const auto before = driver->ticks();
    while (driver->ticks() < before + 5) std::this_thread::sleep_for(1ms);
    poll_for(30ms);
  }
  EXPECT_GE(driver->closest(), tuning::kTick);
}

TEST_F(Drivers, WhoFindsNoMemoryIsAskedAgain) {
  struct Short final : Driver {
    bool is_over() override {
      if (++asked == 1) throw std::bad_alloc();
      return true;
    }
    std::atomic<int> asked = 0;
  };
  const auto driver = std::make_shared<Short>();
  tick.watch(driver);
  while (driver->asked < 2) std::this_thread::sleep_for(1ms);
  while (tick.any()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(driver->asked, 2);
}

// A thread that polls may lose its processor between any two instructions, and the timer goes off meanwhile.
struct HeldUp : testing::Test {
  // As a timer that goes off the moment it is set, for the time has passed: in a thread of its own, to the end, before
  // the thread that sets it goes on.
  void set_alarm(Clock::time_point at) {
    EXPECT_GT(at, Clock::now()) << "set for a time that has passed when it is set";
    pending = at;
    if (!std::exchange(hold_up, false)) return;
    while (Clock::now() < at) std::this_thread::yield();
    pending.reset();
    std::thread([this] { tick.alarm(); }).join();
  }

  Tick tick{[](bool) {}};
  std::optional<Clock::time_point> pending{};
  bool hold_up = false;
};

TEST_F(HeldUp, BehindTheAlarmThatItSet) {
  tick.open([this](Clock::time_point at) { set_alarm(at); });
  const auto driver = std::make_shared<Counter>();
  tick.watch(driver);
  while (Clock::now() < *pending) std::this_thread::yield();
  hold_up = true;
  tick.tick_if_due();
  EXPECT_EQ(driver->ticks(), 2U) << "its own tick, and the one that the alarm asked for meanwhile";
  EXPECT_EQ(driver->by_maker(), 2U);
  ASSERT_TRUE(pending) << "nothing will ever do the next tick";
}

TEST_F(HeldUp, InTheTickItself) {
  tick.open([this](Clock::time_point at) { set_alarm(at); });
  struct Slow final : Driver {
    bool is_over() override {
      for (const auto end = Clock::now() + 10ms; Clock::now() < end;) std::this_thread::yield();
      return false;
    }
  };
  tick.watch(std::make_shared<Slow>());
  while (Clock::now() < *pending) std::this_thread::yield();
  pending.reset();
  tick.tick_if_due();
  ASSERT_TRUE(pending) << "nothing will ever do the next tick";
}

// It comes while it is asked, or one that is asked later comes back: neither is forgotten, nor asked twice.
TEST_F(HeldUp, WhileOthersBegin) {
  tick.open([this](Clock::time_point at) { set_alarm(at); });
  const auto begin_tick = [this] {
    while (Clock::now() < *pending) std::this_thread::yield();
    tick.tick_if_due();
  };
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
  begin_tick();
  EXPECT_EQ(comes_back->asked, 1);
  EXPECT_EQ(late->ticks(), 1U);
  begin_tick();
  EXPECT_EQ(comes_back->asked, 2);
  EXPECT_EQ(late->ticks(), 2U);
  begin_tick();
  EXPECT_EQ(comes_back->asked, 2) << "it has gone";
  EXPECT_EQ(late->ticks(), 3U);
}

TEST_F(Drivers, WhoHasGoneIsNotAskedAgain) {
  const auto driver = std::make_shared<Counter>(3);
  tick.watch(driver);
  tick.watch(driver);
  while (driver->ticks() < 3) std::this_thread::sleep_for(1ms);
  poll_for(10ms);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(driver->ticks(), 3U);
  EXPECT_EQ(told, 3) << "watched twice, or still ticking";
  tick.watch(driver);
  while (driver->ticks() < 4) std::this_thread::sleep_for(1ms);
}

TEST_F(Drivers, AChildOfForkLeavesThemToItsParent) {
  const auto driver = std::make_shared<Counter>();
  tick.leave_to_parent();
  tick.watch(driver);
  poll_for(10ms);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(driver->ticks(), 0U);
}

}  // namespace
}  // namespace weft::verbs::detail
