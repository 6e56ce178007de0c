// SPDX-License-Identifier: Apache-2.0
// RDMA Write, RFC 5040 section 5.1.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> writes_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
