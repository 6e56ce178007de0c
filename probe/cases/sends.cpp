// SPDX-License-Identifier: Apache-2.0
// Sends and invalidation, RFC 5040 section 5.3.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> sends_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
