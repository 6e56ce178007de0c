// SPDX-License-Identifier: Apache-2.0
// The rules of DDP and RDMAP on what MPA delivers, as one group: connection_audit hands it every ULPDU that MPA has
// nothing against. Which layer judges first, and that a ULPDU whose DDP header is unusable is not judged by RDMAP, is
// decided in ulpdu_rules.cpp.
#pragma once

#include <array>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/rules/ddp_order.hpp"
#include "conformance/rules/joined_message.hpp"
#include "conformance/rules/requests.hpp"
#include "conformance/rules/terminate.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class UlpduRules {
 public:
  // An FPDU with a good CRC (or none in use), in the order of the capture. Never one of a connection without MPA, and
  // never one after a rejecting Reply.
  void on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  // FIN or RST. The other direction may go on.
  void on(const EndSeen& end, const Facts& facts, Findings& findings);
  // A startup frame: FPDUs follow.
  void on(const StartupSeen& startup);
  // The capture lost octets of this direction, or had lost octets up to here.
  void lose(Direction from);
  // FPDUs of this direction are missing from here on: they are wrong, with a bad CRC, or before the beginning of the
  // capture. What they would have changed is unknown then, in both directions (a Read Request, a Response).
  void forget(Direction from);
  // The capture is over. What did not happen by now is unknown, not wrong.
  void finish(const Facts& facts, Findings& findings);

 private:
  // What one end sends.
  struct Sender {
    rules::DdpOrder order{};
    rules::SentHeaders headers{};
    rules::Terminates terminates{};
    rules::Requests requests{};                    // its requests, and the other end's responses to them
    std::array<rules::JoinedMessage, 4> joined{};  // by queue
  };
  [[nodiscard]] Sender& sender(Direction from) noexcept { return senders_[static_cast<std::size_t>(from)]; }
  void break_off(Sender& sender);
  void end_complete_response(const Ulpdu& ulpdu, Findings& findings);
  void judge_message(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);
  void judge_kind(const Ulpdu& ulpdu, const Facts& facts, Findings& findings);

  std::array<Sender, 2> senders_{};
};

}  // namespace weft::conformance
