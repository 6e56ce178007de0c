// SPDX-License-Identifier: Apache-2.0
// Untagged queues, RFC 5041 sections 5 to 7.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> ddp_untagged_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
