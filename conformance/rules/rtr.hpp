// SPDX-License-Identifier: Apache-2.0
// The ready-to-receive indication that opens a peer-to-peer connection (RFC 6581 sections 5 and 9.2).
#pragma once

#include <optional>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"
#include "mpa/agreement.hpp"

namespace weft::conformance {

class RtrRules {
 public:
  // An FPDU that MPA delivers.
  void on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  // The Initiator's first FPDU is unknown.
  void forget(Direction from);

  // What the Initiator sent, in a connection with A set in both frames.
  [[nodiscard]] std::optional<mpa::Rtr> sent() const noexcept { return sent_; }

 private:
  bool done_ = false;
  std::optional<mpa::Rtr> sent_{};
};

}  // namespace weft::conformance
