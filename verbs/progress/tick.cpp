// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/tick.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/timer.hpp"
#include "verbs/progress/tuning.hpp"

namespace weft::verbs::detail {

std::error_code Tick::open(transport::Reactor& reactor) {
  auto timer = transport::Timer::create(reactor, [this] { alarm(); });
  if (!timer) return timer.error();
  open([timer = std::move(*timer)](Clock::time_point at) mutable { timer.set(at); });
  return {};
}

// --- Who is watched

void Tick::watch(std::shared_ptr<Driver> driver) noexcept {
  if (due_.load() == kLeftToParent) return;  // its mutex may be locked forever
  const std::lock_guard lock(mutex_);
  push(std::move(driver));
  if (due_.load() == kNever) schedule();
}

// Once, however often its application arms a queue and spins again before the next tick.
void Tick::push(std::shared_ptr<Driver> driver) noexcept {
  if (std::exchange(driver->watched_, true)) return;
  driver->next_ = std::move(drivers_);
  drivers_ = std::move(driver);
}

std::shared_ptr<Driver> Tick::pop(std::shared_ptr<Driver>& list) noexcept {
  auto first = std::move(list);
  if (!first) return first;
  list = std::move(first->next_);
  first->watched_ = false;
  return first;
}

void Tick::clear() {
  const std::lock_guard lock(mutex_);
  while (pop(drivers_)) {
  }
}

// --- The tick

// From now, and not from when the tick began: a thread that is held up in one would set an alarm that goes off at once,
// while it is still at it.
void Tick::schedule() {
  const auto due = now_() + tuning::kTick;
  due_ = due;
  set_alarm_(due + (ticks_by_pollers_ < tuning::kManyTicks ? tuning::kPatience : tuning::kLongPatience));
}

void Tick::tick_if_due() {
  if (now_() < due_.load(std::memory_order_relaxed)) return;
  const transport::NoCancellation here;
  tick(By::kPoller);
}

std::optional<Tick::Clock::time_point> Tick::overdue(Clock::time_point now) const noexcept {
  const auto due = due_.load();
  const bool passed = due < kLeftToParent && now > due + tuning::kLongPatience;
  return passed && !ticks_.runs() ? std::optional(due) : std::nullopt;
}

// The alarm may go off while a thread that polls is at it. That thread then looks at the clock again when it is done:
// perhaps the alarm was its own, set for a time that had passed before it came to that.
void Tick::tick(By by) {
  ticks_.run([this, by] { do_tick(by); });
}

// Threads that find the tick done by another ask no driver twice for it.
void Tick::do_tick(By by) {
  if (now_() < due_.load()) return;
  on_tick_(ask_all());
  const std::lock_guard lock(mutex_);
  ticks_by_pollers_ = by == By::kPoller ? std::min(ticks_by_pollers_ + 1, tuning::kManyTicks) : 0;
  if (drivers_) {
    schedule();
  } else {
    due_ = kNever;
  }
}

// Without memory the next tick asks again.
bool Tick::is_over(Driver& driver) noexcept {
  try {
    return driver.is_over();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Whether some of those that stay have time. One that comes, or comes back, meanwhile is asked with the next tick.
bool Tick::ask_all() {
  bool some_have_time = false;
  std::unique_lock lock(mutex_);
  auto list = std::move(drivers_);
  while (auto driver = pop(list)) {
    lock.unlock();
    const bool has_time = driver->has_time();
    const bool stays = !is_over(*driver);
    some_have_time |= stays && has_time;
    if (!stays) driver.reset();  // perhaps the last share
    lock.lock();
    if (stays) push(std::move(driver));
  }
  return some_have_time;
}

void Tick::leave_to_parent() noexcept { due_ = kLeftToParent; }

}  // namespace weft::verbs::detail
