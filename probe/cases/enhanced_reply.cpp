// SPDX-License-Identifier: Apache-2.0
// Enhanced connection establishment, RFC 6581: what an Initiator makes of a Reply.
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> enhanced_reply_cases() {
  static const std::vector<Case> cases{};
  return cases;
}

}  // namespace weft::probe
