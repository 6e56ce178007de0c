// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/presence.hpp"

namespace weft::verbs::detail {

void Presence::pass(TimePoint now) noexcept {
  const auto last = last_.exchange(now.time_since_epoch().count(), std::memory_order_relaxed);
  if (now.time_since_epoch() - TimePoint::duration(last) > rule_.closeness) row_ = 0;
}

bool Presence::leave() noexcept {
  row_ = 0;
  return here_.load() && here_.exchange(false);
}

}  // namespace weft::verbs::detail
