// SPDX-License-Identifier: Apache-2.0
#include "mpa/startup_phase.hpp"

namespace weft::mpa {

std::string_view name(Phase phase) noexcept {
  switch (phase) {
    case Phase::kIdle: return "idle";
    case Phase::kAwaitingReply: return "awaiting_reply";
    case Phase::kMustSendFirst: return "must_send_first";
    case Phase::kAwaitingRequest: return "awaiting_request";
    case Phase::kDeciding: return "deciding";
    case Phase::kFenced: return "fenced";
    case Phase::kOpen: return "open";
    case Phase::kRejected: return "rejected";
    case Phase::kFailed: return "failed";
  }
  return {};
}

std::string_view name(Trigger trigger) noexcept {
  switch (trigger) {
    case Trigger::kStart: return "start";
    case Trigger::kReplyAccepts: return "reply accepts";
    case Trigger::kReplyRejects: return "reply rejects";
    case Trigger::kFirstFpduSent: return "first FPDU sent";
    case Trigger::kRequest: return "request";
    case Trigger::kAccept: return "accept";
    case Trigger::kReject: return "reject";
    case Trigger::kFirstFpduReceived: return "first FPDU received";
    case Trigger::kFault: return "fault";
  }
  return {};
}

std::string diagram() {
  std::string text = "stateDiagram-v2\n";
  for (const Transition& t : kTransitions) {
    text.append("  ").append(name(t.from)).append(" --> ").append(name(t.to));
    text.append(" : ").append(name(t.trigger)).append("\n");
  }
  return text;
}

}  // namespace weft::mpa
