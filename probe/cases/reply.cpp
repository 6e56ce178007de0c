// SPDX-License-Identifier: Apache-2.0
// MPA Reply, RFC 5044 section 7.1: where the peer connects.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> reply_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
