// SPDX-License-Identifier: Apache-2.0
// All threads of the application that drive sockets, and the tick that finds out when one has gone. A thread that polls
// and finds nothing does the tick when it is due: else another one would have to wake for it each millisecond, perhaps
// on the processor of one that polls, and one message in a hundred would take five times as long. A timer does it where
// nobody does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "transport/reactor.hpp"
#include "transport/timer.hpp"
#include "verbs/detail/application_driver.hpp"

namespace weft::verbs::detail {

class ApplicationDrivers {
 public:
  // Told with each tick, one at a time and by whose thread does it, whether some have time for the progress threads'
  // work.
  using OnTick = std::move_only_function<void(bool some_have_time)>;

  explicit ApplicationDrivers(OnTick on_tick) : on_tick_(std::move(on_tick)) {}

  // Before the first watch(). Fails when the process is out of descriptors.
  [[nodiscard]] std::error_code open(transport::Reactor& reactor);
  // Until it is idle. One that is watched already is watched once.
  void watch(std::shared_ptr<ApplicationDriver> driver);
  // By a thread that has a moment, and holds no lock of a queue or a stream.
  void tick_if_due();
  // In a child of fork(): the timer is the parent's.
  void leave_to_parent() noexcept;
  // Behind the end of all threads.
  void clear() { drivers_.clear(); }

 private:
  using Clock = ApplicationDriver::Clock;
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
  void add(std::shared_ptr<ApplicationDriver> driver);
  void schedule(Clock::time_point from);

  OnTick on_tick_;
  std::optional<transport::Timer> timer_;
  std::atomic<Clock::time_point> due_{kNever};
  std::atomic<bool> left_to_parent_{false};

  std::mutex ticks_;  // one at a time
  std::vector<std::shared_ptr<ApplicationDriver>> ticking_;
  std::atomic<int> ticks_by_pollers_{0};  // in a row

  std::mutex mutex_;
  std::vector<std::shared_ptr<ApplicationDriver>> drivers_;  // the two lists keep their memory in turns
};

}  // namespace weft::verbs::detail
