// SPDX-License-Identifier: Apache-2.0
// Threads that sleep until another thread notifies them to check again. What they check is elsewhere, protected by a
// lock of its own: a thread registers before it checks with that lock held, and a change made with that lock held is
// followed by a call of any(). So one of the two sees the other.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "transport/cancellation.hpp"

namespace weft::verbs::detail {

class Sleepers {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kForEver = Clock::time_point::max();

  // --- A thread that may sleep
  void arrive() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }
  // Returns a number that changes with each notification. Get it before the check, for the sleep that follows.
  [[nodiscard]] std::uint64_t told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  // Sleeps until there was a notification since told() returned `seen`, even one before the call. Returns false if
  // `until` comes first. Signals do not end it; it is a cancellation point.
  [[nodiscard]] bool sleep(std::uint64_t seen, Clock::time_point until) {
    std::unique_lock lock(mutex_);
    const Asleep here(asleep_);
    const transport::Waits may_end;
    return wake_up_.wait_until(lock, until, [&] { return told_ != seen; });
  }

  // --- A thread that has changed what they look for
  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }
  void tell_one() noexcept {
    tell();
    wake_up_.notify_one();
  }
  void tell_all() noexcept {
    tell();
    wake_up_.notify_all();
  }

  // For tests: how many sleep at this moment.
  [[nodiscard]] int asleep() const {
    const std::lock_guard lock(mutex_);
    return asleep_;
  }

 private:
  // Under the lock; a thread that is canceled has it again when it is unwound.
  class Asleep {
   public:
    explicit Asleep(int& count) noexcept : count_(++count) {}
    ~Asleep() { --count_; }
    Asleep(const Asleep&) = delete;
    Asleep& operator=(const Asleep&) = delete;

   private:
    int& count_;
  };
  void tell() noexcept {
    const std::lock_guard lock(mutex_);
    ++told_;
  }

  std::atomic<std::uint32_t> count_{0};
  mutable std::mutex mutex_;
  std::condition_variable wake_up_;
  std::uint64_t told_ = 0;
  int asleep_ = 0;
};

}  // namespace weft::verbs::detail
