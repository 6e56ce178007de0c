// SPDX-License-Identifier: Apache-2.0
// Tagged buffers, RFC 5041 sections 5 to 8.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> ddp_tagged_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
