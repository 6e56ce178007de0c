// SPDX-License-Identifier: Apache-2.0
// RDMAP versions and opcodes, RFC 5040 section 4.1.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> rdmap_header_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
