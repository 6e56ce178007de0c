// SPDX-License-Identifier: Apache-2.0
// Markers: there when they are asked for, and what is in them (RFC 5044 sections 4.2, 4.3 and 7.1.1).
#pragma once

#include <array>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class MarkerRules {
 public:
  // An FPDU whose CRC is not wrong.
  void on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);

 private:
  void judge_use(const FpduSeen& fpdu, const Facts& facts, Findings& findings);

  std::array<bool, 2> told_{};  // by direction: Markers are there or missing against what was asked for
};

}  // namespace weft::conformance
