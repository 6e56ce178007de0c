// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/presence.hpp"

namespace weft::verbs::detail {

std::uint32_t Presence::extend(TimePoint now, std::uint32_t calls) noexcept {
  using std::chrono::microseconds;
  const auto at = static_cast<std::uint32_t>(std::chrono::duration_cast<microseconds>(now.time_since_epoch()).count());
  const Row row = row_.load(std::memory_order_relaxed);
  const bool unbroken = microseconds(at - row.last) <= rule_.closeness;
  const std::uint32_t all = (unbroken ? row.calls : 0) + calls;
  row_.store({.calls = all, .last = at}, std::memory_order_relaxed);
  return all;
}

bool Presence::leave() noexcept {
  row_.store({}, std::memory_order_relaxed);
  return here_.load() && here_.exchange(false);
}

}  // namespace weft::verbs::detail
