// SPDX-License-Identifier: Apache-2.0
/// @file
/// Deadlines as poll(2) takes them.
#pragma once

#include <algorithm>
#include <chrono>

namespace weft::transport {

/// Returns the time until `until` in milliseconds, rounded up, so that a wait does not end early. At least 0; at most 2^30
/// (12 days), so a wait that ends without an event may have to be repeated.
[[nodiscard]] inline int poll_timeout(std::chrono::steady_clock::time_point until) noexcept {
  using Count = std::chrono::milliseconds::rep;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<Count>(left.count(), 0, Count{1} << 30));
}

}  // namespace weft::transport
