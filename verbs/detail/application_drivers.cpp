// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/application_drivers.hpp"

#include <algorithm>
#include <utility>

#include "transport/cancellation.hpp"

namespace weft::verbs::detail {

std::error_code ApplicationDrivers::open(transport::Reactor& reactor) {
  auto timer = transport::Timer::create(reactor, [this] { tick(By::kTimer); });
  if (!timer) return timer.error();
  timer_.emplace(std::move(*timer));
  return {};
}

void ApplicationDrivers::watch(std::shared_ptr<ApplicationDriver> driver) {
  if (left_to_parent_) return;
  const std::lock_guard lock(mutex_);
  add(std::move(driver));
  if (due_.load() == kNever) schedule(Clock::now());
}

// Once, however often its application arms a queue and spins again before the next tick.
void ApplicationDrivers::add(std::shared_ptr<ApplicationDriver> driver) {
  if (std::ranges::find(drivers_, driver) == drivers_.end()) drivers_.push_back(std::move(driver));
}

void ApplicationDrivers::schedule(Clock::time_point from) {
  due_ = from + kTick;
  timer_->set(from + kTick + (ticks_by_pollers_ < kManyTicks ? kPatience : kLongPatience));
}

void ApplicationDrivers::tick_if_due() {
  if (Clock::now() < due_.load(std::memory_order_relaxed)) return;
  const transport::NoCancellation here;
  tick(By::kPoller);
}

// The timer may fire while a thread that polls is at it, or has just been: nobody is asked twice for one tick.
void ApplicationDrivers::tick(By by) {
  const std::unique_lock one(ticks_, std::try_to_lock);
  const auto now = Clock::now();
  if (!one || now < due_.load()) return;
  ticks_by_pollers_ = by == By::kPoller ? std::min(ticks_by_pollers_ + 1, kManyTicks) : 0;
  {
    const std::lock_guard lock(mutex_);
    ticking_.swap(drivers_);
  }
  bool some_have_time = false;
  std::erase_if(ticking_, [&](const auto& driver) {
    const bool has_time = driver->has_time();
    if (driver->hand_back_if_idle(now)) return true;
    some_have_time |= has_time;
    return false;
  });
  on_tick_(some_have_time);
  const std::lock_guard lock(mutex_);
  for (auto& driver : ticking_) add(std::move(driver));
  ticking_.clear();
  if (drivers_.empty()) {
    due_ = kNever;
  } else {
    schedule(now);
  }
}

void ApplicationDrivers::leave_to_parent() noexcept {
  left_to_parent_ = true;
  due_ = kNever;
}

}  // namespace weft::verbs::detail
