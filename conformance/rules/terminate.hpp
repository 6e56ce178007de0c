// SPDX-License-Identifier: Apache-2.0
// Rules on the Terminate message and on what follows it (RFC 5040 sections 4.8 and 5.4, RFC 6580).
#pragma once

#include "conformance/facts.hpp"
#include "conformance/rules/sent_headers.hpp"
#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

// The Terminate of one direction, and its end.
class Terminates {
 public:
  // `peer`: what the other end sent before, one of which this may quote.
  void on_terminate(const Ulpdu& ulpdu, const SentHeaders& peer, Findings& findings);
  // Any other FPDU of the direction.
  void on_other(const FpduSeen& fpdu, Findings& findings);
  void on_end(const EndSeen& end, Findings& findings);

 private:
  bool sent_ = false;
  bool open_ = false;  // without L so far, which was told: its other segments are no other message
  bool told_ = false;
};

}  // namespace weft::conformance::rules
