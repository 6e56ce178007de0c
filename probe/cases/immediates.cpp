// SPDX-License-Identifier: Apache-2.0
// Immediate Data, RFC 7306 section 6.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> immediates_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
