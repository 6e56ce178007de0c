// SPDX-License-Identifier: Apache-2.0
/// @file
/// Time in the protocol core, which receives it as an argument and never reads a clock.
#pragma once

#include <chrono>

namespace weft {

/// Represents a time span.
using Duration = std::chrono::nanoseconds;

/// Represents a time since an epoch that the driver chooses once per connection (that of a steady clock, or zero in a
/// test).
struct Instant {
  Duration since_epoch{};
  constexpr auto operator<=>(const Instant&) const = default;
  /// Returns a later time, saturated at the maximum: Duration::max() means "never".
  friend constexpr Instant operator+(Instant at, Duration later) {
    const bool beyond = later > Duration::zero() && at.since_epoch > Duration::max() - later;
    return {beyond ? Duration::max() : at.since_epoch + later};
  }
  friend constexpr Duration operator-(Instant a, Instant b) { return a.since_epoch - b.since_epoch; }
};

}  // namespace weft
