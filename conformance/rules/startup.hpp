// SPDX-License-Identifier: Apache-2.0
// What a startup frame must be by itself (RFC 5044 section 7.1.1, RFC 6581 section 6).
#pragma once

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

// Broken in one frame, or by what follows it (startup_order.cpp).
inline constexpr Rule kLengthFieldRule{"MPA-7.1.1-23", Severity::kViolation, Layer::kConnection, "RFC 5044 7.1.1",
                                       "PD_Length is the number of octets of private data that follow."};

class StartupRules {
 public:
  void on(const StartupSeen& seen, const Facts& facts, Findings& findings);
};

}  // namespace weft::conformance
