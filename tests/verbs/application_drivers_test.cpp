// SPDX-License-Identifier: Apache-2.0
// The tick that finds out whether the application has gone: by whom, how often, and until when.
#include "verbs/detail/application_drivers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using Clock = ApplicationDriver::Clock;

// Its thread never goes, or has by the tick of this number.
class Driver final : public ApplicationDriver {
 public:
  explicit Driver(std::size_t gone_at = 0) : gone_at_(gone_at) {}

  bool hand_back_if_idle(Clock::time_point now) override {
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
    EXPECT_FALSE(drivers.open(reactor));
    thread = std::thread([this] { reactor.run(); });
  }
  ~Drivers() override {
    reactor.stop();
    thread.join();
  }
  void poll_for(std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) drivers.tick_if_due();
  }

  transport::Reactor reactor = transport::Reactor::create().value();
  std::atomic<int> told = 0;
  ApplicationDrivers drivers{[this](bool) { ++told; }};
  std::thread thread;
};

// On a busy machine it is away for a while now and then, and the timer does what is due.
TEST_F(Drivers, WhoPollsDoesTheTick) {
  const auto driver = std::make_shared<Driver>();
  drivers.watch(driver);
  for (const auto end = Clock::now() + 10s; driver->by_maker() < 50 && Clock::now() < end;) poll_for(1ms);
  ASSERT_GE(driver->by_maker(), 50U);
  EXPECT_GE(driver->closest(), ApplicationDriver::kStale);
  EXPECT_GE(driver->by_maker() * 4, driver->ticks()) << "the timer did most of them";
}

// Also behind a long time in which another thread did.
TEST_F(Drivers, TheTimerDoesItWhereNobodyDoes) {
  const auto driver = std::make_shared<Driver>();
  drivers.watch(driver);
  for (int round = 0; round < 3; ++round) {
    const auto before = driver->ticks();
    while (driver->ticks() < before + 5) std::this_thread::sleep_for(1ms);
    poll_for(30ms);
  }
  EXPECT_GE(driver->closest(), ApplicationDriver::kStale);
}

TEST_F(Drivers, WhoHasGoneIsNotAskedAgain) {
  const auto driver = std::make_shared<Driver>(3);
  drivers.watch(driver);
  drivers.watch(driver);
  while (driver->ticks() < 3) std::this_thread::sleep_for(1ms);
  poll_for(10ms);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(driver->ticks(), 3U);
  EXPECT_EQ(told, 3) << "watched twice, or still ticking";
  drivers.watch(driver);
  while (driver->ticks() < 4) std::this_thread::sleep_for(1ms);
}

TEST_F(Drivers, AChildOfForkLeavesThemToItsParent) {
  const auto driver = std::make_shared<Driver>();
  drivers.leave_to_parent();
  drivers.watch(driver);
  poll_for(10ms);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(driver->ticks(), 0U);
}

}  // namespace
}  // namespace weft::verbs::detail
