// SPDX-License-Identifier: Apache-2.0
// Enhanced connection establishment, RFC 6581: what a Responder answers.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> enhanced_request_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
