// SPDX-License-Identifier: Apache-2.0
#include "probe/learned.hpp"

namespace weft::probe {

void Learned::saw_round_trip(Duration took) noexcept {
  Duration::rep longest = round_trip_;
  while (took.count() > longest && !round_trip_.compare_exchange_weak(longest, took.count())) {
  }
}

}  // namespace weft::probe
