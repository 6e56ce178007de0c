// SPDX-License-Identifier: Apache-2.0
// What Request and Reply say together: CRC, and of RFC 6581 the peer-to-peer model, ready-to-receive types and Read
// depths.
#pragma once

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class NegotiationRules {
 public:
  // The facts hold this frame already.
  void on(const StartupSeen& seen, const Facts& facts, Findings& findings);

 private:
  bool s_without_revision_ = false;  // a frame below revision 2 has the S bit: what was meant is unknown
};

}  // namespace weft::conformance
