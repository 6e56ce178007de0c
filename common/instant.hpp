// SPDX-License-Identifier: Apache-2.0
// Time as the protocol core sees it: an argument, never a clock.
#pragma once

#include <chrono>

namespace weft {

using Duration = std::chrono::nanoseconds;

// Time since an epoch that the driver chooses once per connection (a steady clock's, or a test's own zero).
struct Instant {
  Duration since_epoch{};
  constexpr auto operator<=>(const Instant&) const = default;
  // A deadline beyond the end of time is the end of time, so that Duration::max() means "never".
  friend constexpr Instant operator+(Instant at, Duration later) {
    const bool beyond = later > Duration::zero() && at.since_epoch > Duration::max() - later;
    return {beyond ? Duration::max() : at.since_epoch + later};
  }
  friend constexpr Duration operator-(Instant a, Instant b) { return a.since_epoch - b.since_epoch; }
};

}  // namespace weft
