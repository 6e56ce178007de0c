// SPDX-License-Identifier: Apache-2.0
// Atomic operations, RFC 7306 section 5.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> atomics_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
