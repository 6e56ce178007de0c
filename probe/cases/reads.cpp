// SPDX-License-Identifier: Apache-2.0
// RDMA Read, RFC 5040 section 5.2.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> reads_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
