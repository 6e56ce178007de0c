// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/startup_missing.hpp"

#include <fmt/format.h>

#include <utility>

#include "conformance/rules/rule_group.hpp"
#include "conformance/rules/startup_order.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kNoRequest{"MPA-7.1.2-01", kViolation, kConnection, "RFC 5044 7.1.2",
                          "The Initiator begins with a Request."};
constexpr Rule kNoExchange{"MPA-7.1.2-24", kViolation, kConnection, "RFC 5044 7.1.2",
                           "FPDUs are sent only after both startup frames."};
constexpr std::array kStartupMissingRules{&kNoRequest, &kNoExchange};
const RuleGroup kStartupMissingGroup{kStartupMissingRules};

constexpr Direction kFromInitiator = Direction::kFromInitiator;
constexpr Direction kFromResponder = Direction::kFromResponder;

}  // namespace

void StartupMissingRules::on(const StartupSeen& seen, const Facts&, Findings&) {
  frames_[static_cast<std::size_t>(seen.piece.from)] =
      Frame{seen.piece.first, seen.piece.stream_offset, seen.piece.end()};
}

// The first FPDU of a direction that is known from its first octet on. A Reply that has not come may still be one that
// the capture lost, which its TCP shows later.
void StartupMissingRules::on(const FpduSeen& fpdu, const Facts&, Findings& findings) {
  if (fpdu.number != 1 || fpdu.mid_stream) return;
  const Direction from = fpdu.piece.from;
  const Where where{&fpdu.piece, 0, fpdu.piece.octets.size()};
  if (!frame(from)) {
    const bool initiator = from == kFromInitiator && frame(kFromResponder);
    findings.add(initiator ? kNoRequest : kNoExchange, where,
                 fmt::format("This FPDU is the first thing of MPA that this end sent: there was no {}.",
                             initiator               ? "Request"
                             : frame(kFromInitiator) ? "Reply"
                                                     : "startup frame"));
  } else if (from == kFromInitiator && !frame(kFromResponder)) {
    without_reply_ =
        findings.prepare(kFpduBeforeReplyRule, where,
                         fmt::format("The Initiator's first FPDU is in packet {}; the Responder had sent no Reply.",
                                     fpdu.piece.first.packet));
    acknowledged_ = fpdu.piece.acknowledged;
  }
}

void StartupMissingRules::finish(const Facts& facts, Findings& findings) {
  const auto& reply = frame(kFromResponder);
  const bool early = reply ? sent_without(acknowledged_, reply->end) : facts.no_reply.why == NoFrame::Why::kNoneSent;
  if (without_reply_ && early) findings.add(std::move(*without_reply_));
  if (!reply || frame(kFromInitiator) || facts.no_request.why != NoFrame::Why::kNoneSent) return;
  findings.add(kReplyEarlyRule, kFromResponder, reply->place, reply->stream_offset,
               fmt::format("The Reply begins in packet {}, and there was no Request.", reply->place.packet));
}

}  // namespace weft::conformance
