// SPDX-License-Identifier: Apache-2.0
// ULPDU_Length and PAD (RFC 5044 sections 3 and 4.1).
#pragma once

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class FpduRules {
 public:
  // An FPDU whose CRC is not wrong: of others it is not known what was sent.
  void on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  void on(const LostSeen& lost, const Facts& facts, Findings& findings);
};

}  // namespace weft::conformance
