// SPDX-License-Identifier: Apache-2.0
// The DDP header, RFC 5041 section 4.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> ddp_header_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
