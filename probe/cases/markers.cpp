// SPDX-License-Identifier: Apache-2.0
// Markers, RFC 5044 sections 4.2, 4.3 and 8.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> markers_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
