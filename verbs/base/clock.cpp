// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/clock.hpp"

#include <chrono>
#include <ctime>

namespace weft::verbs::detail {

namespace {

Duration to_duration(const timespec& time) noexcept {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Returns how far the coarse clock may be behind.
Duration kernel_tick() noexcept {
  timespec tick{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return to_duration(tick);
}

}  // namespace

Instant now() noexcept { return {std::chrono::steady_clock::now().time_since_epoch()}; }

Instant about_now() noexcept {
  static const Duration tick = kernel_tick();
  timespec last_tick{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &last_tick);
  return {to_duration(last_tick) + tick};
}

}  // namespace weft::verbs::detail
