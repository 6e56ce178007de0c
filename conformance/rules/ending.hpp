// SPDX-License-Identifier: Apache-2.0
// How a direction ends (RFC 5044 section 7.2).
#pragma once

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class EndingRules {
 public:
  void on(const EndSeen& end, const Facts& facts, Findings& findings);
};

}  // namespace weft::conformance
