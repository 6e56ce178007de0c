// SPDX-License-Identifier: Apache-2.0
// The periodic check, each millisecond, at which drivers that are no longer present return their sockets. A poller that
// finds nothing performs the tick when it is due: otherwise another thread would have to wake for it each millisecond,
// perhaps on the processor of a poller, and one message in a hundred would take five times as long. Without such a
// poller, a timer performs it.
//
// No tick is lost: while drivers are watched, the alarm is set for at most tuning::kLongPatience after the tick is due,
// or has fired and led to a call of tick(), which is performed even if another thread is in one (CoalescedWork).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include "transport/reactor.hpp"
#include "verbs/progress/coalesced_work.hpp"
#include "verbs/progress/driver.hpp"

namespace weft::verbs::detail {

class Tick {
 public:
  using Clock = Driver::Clock;
  // Told with each tick, one at a time and by whose thread does it, whether some have time for the progress threads'
  // work.
  using OnTick = std::move_only_function<void(bool some_have_time)>;
  // Has alarm() called at that time, which replaces the one that was set before.
  using SetAlarm = std::move_only_function<void(Clock::time_point at)>;

  // The clock that it reads; a test's may be virtual.
  using Now = Clock::time_point (*)() noexcept;

  explicit Tick(OnTick on_tick, Now now = &Clock::now) : on_tick_(std::move(on_tick)), now_(now) {}
  ~Tick() { clear(); }
  Tick(const Tick&) = delete;
  Tick& operator=(const Tick&) = delete;

  // One of the two before the first watch(): the alarm is a timer of the reactor, or as given. The first fails when the
  // process is out of descriptors.
  [[nodiscard]] std::error_code open(transport::Reactor& reactor);
  void open(SetAlarm set_alarm) {
    const std::lock_guard lock(mutex_);
    set_alarm_ = std::move(set_alarm);
  }
  // Until it is idle. One that is watched already is watched once. Needs no memory.
  void watch(std::shared_ptr<Driver> driver) noexcept;
  // By a thread that has a moment, and holds no lock of a queue or a stream.
  void tick_if_due();
  void alarm() { tick(By::kTimer); }
  [[nodiscard]] bool any() const noexcept { return due_.load() < kLeftToParent; }
  // When the tick was due, if its alarm must have gone off since then and no thread is at it.
  [[nodiscard]] std::optional<Clock::time_point> overdue(Clock::time_point now) const noexcept;
  [[nodiscard]] bool ticks() const noexcept { return ticks_.runs(); }  // a thread is at a tick
  // In a child of fork(): the timer is the parent's.
  void leave_to_parent() noexcept;
  void clear();  // none is watched any more

 private:
  enum class By : std::uint8_t { kPoller, kTimer };

  static constexpr auto kNever = Clock::time_point::max();
  static constexpr auto kLeftToParent = kNever - Clock::duration(1);  // never, either

  void tick(By by);
  void do_tick(By by);
  [[nodiscard]] bool ask_all();
  [[nodiscard]] static bool is_over(Driver& driver) noexcept;
  void schedule();
  void push(std::shared_ptr<Driver> driver) noexcept;
  [[nodiscard]] static std::shared_ptr<Driver> pop(std::shared_ptr<Driver>& list) noexcept;

  OnTick on_tick_;
  const Now now_;
  SetAlarm set_alarm_;
  std::atomic<Clock::time_point> due_{kNever};  // changed under mutex_, and the alarm is set along
  CoalescedWork ticks_;

  std::mutex mutex_;
  int ticks_by_pollers_ = 0;         // in a row
  std::shared_ptr<Driver> drivers_;  // a list
};

}  // namespace weft::verbs::detail
