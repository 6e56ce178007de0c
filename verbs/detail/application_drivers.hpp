// SPDX-License-Identifier: Apache-2.0
// All threads of the application that drive sockets, and the tick that finds out when one has gone. A thread that polls
// and finds nothing does the tick when it is due: else another one would have to wake for it each millisecond, perhaps
// on the processor of one that polls, and one message in a hundred would take five times as long. A timer does it where
// no thread does.
//
// No tick is lost: while drivers are watched, the alarm is set for no later than kLongPatience after the tick is due,
// or has gone off and led to a call of tick(), which is carried out even when another thread is at one (CoalescedWork).
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
#include "verbs/detail/application_driver.hpp"
#include "verbs/detail/coalesced_work.hpp"

namespace weft::verbs::detail {

class ApplicationDrivers {
 public:
  using Clock = ApplicationDriver::Clock;
  // Told with each tick, one at a time and by whose thread does it, whether some have time for the progress threads'
  // work.
  using OnTick = std::move_only_function<void(bool some_have_time)>;
  // Has alarm() called at that time, which replaces the one that was set before.
  using SetAlarm = std::move_only_function<void(Clock::time_point at)>;

  explicit ApplicationDrivers(OnTick on_tick) : on_tick_(std::move(on_tick)) {}
  ~ApplicationDrivers() { clear(); }
  ApplicationDrivers(const ApplicationDrivers&) = delete;
  ApplicationDrivers& operator=(const ApplicationDrivers&) = delete;

  // One of the two before the first watch(): the alarm is a timer of the reactor, or as given. The first fails when the
  // process is out of descriptors.
  [[nodiscard]] std::error_code open(transport::Reactor& reactor);
  void open(SetAlarm set_alarm) {
    const std::lock_guard lock(mutex_);
    set_alarm_ = std::move(set_alarm);
  }
  // Until it is idle. One that is watched already is watched once. Needs no memory.
  void watch(std::shared_ptr<ApplicationDriver> driver) noexcept;
  // By a thread that has a moment, and holds no lock of a queue or a stream.
  void tick_if_due();
  void alarm() { tick(By::kTimer); }
  [[nodiscard]] bool any() const noexcept { return due_.load() != kNever; }
  // When the tick was due, if its alarm must have gone off since then and no thread is at it.
  [[nodiscard]] std::optional<Clock::time_point> overdue(Clock::time_point now) const noexcept;
  [[nodiscard]] bool ticks() const noexcept { return ticks_.runs(); }  // a thread is at a tick
  // In a child of fork(): the timer is the parent's.
  void leave_to_parent() noexcept;
  void clear();  // none is watched any more

 private:
  enum class By : std::uint8_t { kPoller, kTimer };

  static constexpr auto kNever = Clock::time_point::max();
  static constexpr auto kTick = ApplicationDriver::kStale;
  // The timer gives a thread that polls so long to do a tick that is due, and puts off its own with it.
  static constexpr std::chrono::microseconds kPatience{500};
  // So much longer where threads that poll did so many in a row. To set a timer that comes before the kernel's own next
  // tick (1 to 10 ms) is to set the processor's, which takes 15 us in a virtual machine.
  static constexpr std::chrono::microseconds kLongPatience{4000};
  static constexpr int kManyTicks = 10;

  void tick(By by);
  void do_tick(By by);
  [[nodiscard]] bool ask_all(Clock::time_point now);
  [[nodiscard]] static bool gone(ApplicationDriver& driver, Clock::time_point now) noexcept;
  void schedule();
  void push(std::shared_ptr<ApplicationDriver> driver) noexcept;
  [[nodiscard]] static std::shared_ptr<ApplicationDriver> pop(std::shared_ptr<ApplicationDriver>& list) noexcept;

  OnTick on_tick_;
  SetAlarm set_alarm_;
  std::atomic<Clock::time_point> due_{kNever};  // changed under mutex_, and the alarm is set along
  std::atomic<bool> left_to_parent_{false};

  CoalescedWork ticks_;
  std::atomic<int> ticks_by_pollers_{0};  // in a row

  std::mutex mutex_;
  std::shared_ptr<ApplicationDriver> drivers_;  // a list
};

}  // namespace weft::verbs::detail
