// SPDX-License-Identifier: Apache-2.0
// How a direction ends (RFC 5044 section 7.2).
#pragma once

#include <array>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class EndingRules {
 public:
  void on(const FpduSeen& fpdu) noexcept {
    bad_[static_cast<std::size_t>(fpdu.piece.from)] = fpdu.crc == CrcVerdict::kBad;
  }
  void on(const EndSeen& end, const Facts& facts, Findings& findings);

 private:
  std::array<bool, 2> bad_{};  // the last FPDU's CRC was wrong, so its length may have been, too
};

}  // namespace weft::conformance
