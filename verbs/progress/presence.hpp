// SPDX-License-Identifier: Apache-2.0
// Whether a thread of the application calls repeatedly, determined from its calls and the ticks alone. Time is an
// argument. Thread-safe, except that only the tick calls came().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "verbs/progress/tuning.hpp"

namespace weft::verbs::detail {

// The calls in a row that make a presence, each within `closeness` of the one before.
struct PresenceRule {
  std::uint32_t calls{};
  std::chrono::nanoseconds closeness{};
};

class Presence {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Rule = PresenceRule;
  static constexpr Rule kPoller{.calls = tuning::kPolls, .closeness = tuning::kPollCloseness};
  static constexpr Rule kWaiter{};  // its first wait is enough
  static constexpr Rule kProxy{.calls = tuning::kProxyWaits, .closeness = tuning::kTick};

  explicit Presence(Rule rule) noexcept : rule_(rule) {}

  // What was made ready before arrive() is there for a thread that sees it here.
  [[nodiscard]] bool is_here() const noexcept { return here_.load(std::memory_order_acquire); }

  // --- Of a thread that is not here
  // A call that counts. True when the row is long enough to arrive. Of two calls at the same time one may be lost.
  [[nodiscard]] bool come(TimePoint now) noexcept { return extend(now, 1) >= rule_.calls; }
  // A call that does not count, but keeps the row unbroken.
  void pass(TimePoint now) noexcept { extend(now, 0); }
  // Returns false when it is begun with come() only.
  [[nodiscard]] bool has_row() const noexcept { return row_.load(std::memory_order_relaxed).calls != 0; }
  // Returns whether it was not here before.
  bool arrive() noexcept {
    stay();
    return !here_.exchange(true);
  }

  // --- Of one that is here. Any call: no clock is asked.
  void stay() noexcept {
    if (!came_.load(std::memory_order_relaxed)) came_.store(true, std::memory_order_relaxed);
  }
  // It is over; a row begins anew. True when it was here.
  bool leave() noexcept;

  // Since the last call. By the tick.
  [[nodiscard]] bool came() noexcept { return came_.exchange(false); }

 private:
  struct Row {
    std::uint32_t calls{};
    std::uint32_t last{};  // when, in microseconds, which wrap after an hour
  };
  static_assert(std::atomic<Row>::is_always_lock_free);

  std::uint32_t extend(TimePoint now, std::uint32_t calls) noexcept;

  const Rule rule_;
  std::atomic<bool> here_{false};
  std::atomic<bool> came_{false};
  std::atomic<Row> row_{};
};

}  // namespace weft::verbs::detail
