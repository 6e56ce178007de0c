// SPDX-License-Identifier: Apache-2.0
// Waiting by polling, but neither forever nor at the cost of the process that is waited for.
#pragma once

#include <sched.h>

#include <chrono>
#include <optional>

#include "tools/bench/endpoint.hpp"

namespace weft::tools::bench {

inline constexpr auto kPatience = std::chrono::seconds(20);  // a peer silent for longer is broken, not slow

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Patience {
 public:
  // After each poll in vain. False when that has been going on for too long.
  [[nodiscard]] bool spin() {
    ++spins_;
    if (spins_ % kSpinsBeforeYield == 0) ::sched_yield();
    return spins_ % 65536 != 0 || !over();  // the clock is looked at rarely: it must not slow the spinning down
  }
  // After one that was not.
  void renew() noexcept {
    spins_ = 0;
    started_.reset();
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool over() {
    const Clock::time_point now = Clock::now();
    if (!started_) started_ = now;
    return now - *started_ > kPatience;
  }

  std::uint32_t spins_ = 0;
  std::optional<Clock::time_point> started_{};  // the first look at the clock
};

}  // namespace weft::tools::bench
