// SPDX-License-Identifier: Apache-2.0
// FPDUs, RFC 5044 sections 3 to 5: length, PAD, cuts across segments.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> fpdu_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
