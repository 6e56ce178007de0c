// SPDX-License-Identifier: Apache-2.0
// Whether an application polls a completion queue all the time, told from its polls alone. From any threads, but for
// what the tick asks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "verbs/detail/application_driver.hpp"

namespace weft::verbs::detail {

class PollHabit {
 public:
  using Clock = ApplicationDriver::Clock;

  [[nodiscard]] bool spins() const noexcept { return spins_.load(std::memory_order_relaxed); }
  // A poll of the empty queue. True when from this one on the application counts as one that spins. While it does, all
  // that matters is that it came by since the last tick, and no clock is asked.
  [[nodiscard]] bool notice() noexcept {
    if (!spins()) return notice_closely();
    if (!came_by_.load(std::memory_order_relaxed)) came_by_.store(true, std::memory_order_relaxed);
    return false;
  }
  // Such a poll of one that spins found nothing in the sockets either. True when it should look at what the progress
  // threads serve.
  [[nodiscard]] bool has_a_moment() noexcept {
    const std::uint32_t polls = idle_polls_.load(std::memory_order_relaxed) + 1;  // one may be lost
    idle_polls_.store(polls, std::memory_order_relaxed);
    return polls % looks_elsewhere_.load(std::memory_order_relaxed) == 0;
  }
  // Of those one in many: it may also look at the clock.
  [[nodiscard]] bool looks_at_clock() const noexcept {
    return idle_polls_.load(std::memory_order_relaxed) % kLooksAtClock == 0;
  }
  // It is over: it sleeps, or has gone. True when it did spin.
  bool end() noexcept;

  // --- The tick
  // Since the last call.
  [[nodiscard]] bool came_by() noexcept { return came_by_.exchange(false); }
  // Since the last call it found nothing so often that it might as well have done the progress threads' work.
  [[nodiscard]] bool had_time() noexcept;

 private:
  // So many polls of an empty queue, each close to the one before, are a spinning application. One that sleeps on its
  // channel also polls an empty queue, before and after arm(), but not that often.
  static constexpr std::uint32_t kSpinningPolls = 8;
  static constexpr std::chrono::microseconds kClose{200};

  // Of its polls one of so many looks elsewhere; of one that polls less often than so many times in a tick, more, up to
  // each.
  static constexpr std::uint32_t kLooksElsewhere = 4;
  static constexpr std::uint32_t kManyPolls = 400;
  static constexpr std::uint32_t kLooksAtClock = 16;
  // With so many in a tick it comes by often enough to do all the progress threads' work.
  static constexpr std::uint32_t kSomePolls = 20;

  [[nodiscard]] bool notice_closely() noexcept;

  std::atomic<bool> spins_{false};
  std::atomic<bool> came_by_{false};
  std::atomic<Clock::rep> last_poll_{0};
  std::atomic<std::uint32_t> close_polls_{0};
  std::atomic<std::uint32_t> idle_polls_{0};
  std::atomic<std::uint32_t> looks_elsewhere_{kLooksElsewhere};
  std::uint32_t idle_polls_before_ = 0;  // at the last had_time()
};

}  // namespace weft::verbs::detail
