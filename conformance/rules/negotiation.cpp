// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/negotiation.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "conformance/rules/rule_group.hpp"
#include "mpa/negotiation.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kCrcOff{"MPA-4.4-05", kWarning, kMpa, "RFC 5044 4.4", "By default a connection uses CRCs."};
constexpr Rule kDepthTooSmall{"MPA2-9.1-04", kWarning, kConnection, "RFC 6581 9.1",
                              "The IRD of the Reply is at least the ORD of the Request."};
constexpr Rule kDepthTooLarge{"MPA2-9.1-08", kViolation, kConnection, "RFC 6581 9.1",
                              "The ORD of the Reply is at most the IRD of the Request."};
constexpr Rule kIrdNotLeft{"MPA2-9.1-20", kViolation, kConnection, "RFC 6581 9.1",
                           "An ORD of 0x3FFF in the Request is answered by an IRD of 0x3FFF."};
constexpr Rule kOrdNotLeft{"MPA2-9.1-22", kViolation, kConnection, "RFC 6581 9.1",
                           "An IRD of 0x3FFF in the Request is answered by an ORD of 0x3FFF."};
constexpr Rule kNoTypeOffered{"MPA2-9.2-04", kViolation, kConnection, "RFC 6581 9.2",
                              "A Request with A set names the ready-to-receive types that the Initiator can send."};
constexpr Rule kModelDropped{"MPA2-9.2-06", kViolation, kConnection, "RFC 6581 9.2",
                             "The Reply has A set if the Request has."};
constexpr Rule kNoTypeAccepted{"MPA2-9.2-09", kViolation, kConnection, "RFC 6581 9.2",
                               "An accepting Reply with A set names a ready-to-receive type."};
constexpr Rule kModelAdded{"MPA2-9.2-17", kViolation, kConnection, "RFC 6581 9.2",
                           "The Reply has A clear if the Request has."};
constexpr Rule kTypesWithoutModel{"MPA2-9.2-18", kViolation, kConnection, "RFC 6581 9.2",
                                  "With A clear, B, C and D are clear too."};
constexpr Rule kReplyUnenhanced{"MPA2-10-02", kViolation, kConnection, "RFC 6581 10",
                                "An enhanced Request is answered by an enhanced Reply."};
constexpr Rule kReplyEnhanced{"MPA2-10-04", kViolation, kConnection, "RFC 6581 10",
                              "A Request without enhanced data is answered by a Reply without."};
constexpr std::array kNegotiationRules{&kCrcOff,     &kDepthTooSmall,     &kDepthTooLarge,   &kIrdNotLeft,
                                       &kOrdNotLeft, &kNoTypeOffered,     &kModelDropped,    &kNoTypeAccepted,
                                       &kModelAdded, &kTypesWithoutModel, &kReplyUnenhanced, &kReplyEnhanced};
const RuleGroup kNegotiationGroup{kNegotiationRules};

constexpr std::size_t kAnswerFlagsAt = 16;
constexpr std::size_t kEnhancedAt = mpa::kFixedFrameSize;
constexpr std::uint8_t kEnhancedFlag = 0x10;  // in StartupFrame::reserved only below revision 2
constexpr std::uint8_t kFirstEnhancedRevision = 2;

std::string types(const mpa::RtrTypes& rtr) {
  std::string text;
  if (rtr.send) text += "B";
  if (rtr.write) text += "C";
  if (rtr.read) text += "D";
  return text;
}

bool types_fit_model(const mpa::EnhancedData& data) noexcept { return data.peer_to_peer || !data.rtr.any(); }

bool asks_peer_to_peer(const std::optional<StartupFacts>& request) noexcept {
  return request && request->enhanced && request->enhanced->peer_to_peer;
}

// A Reply that lost its A is judged with the Request (judge_model).
void judge_own_types(const StartupSeen& seen, const mpa::EnhancedData& data, const Facts& facts, Findings& findings) {
  const Where where{&seen.piece, kEnhancedAt, mpa::kEnhancedDataSize};
  const bool request = seen.piece.from == Direction::kFromInitiator;
  if (!types_fit_model(data)) {
    if (!request && !seen.frame->reject && asks_peer_to_peer(facts.request)) return;
    findings.add(kTypesWithoutModel, where, fmt::format("A is clear and {} is set.", types(data.rtr)));
  } else if (request && data.peer_to_peer && !data.rtr.any()) {
    findings.add(kNoTypeOffered, where, "A is set, and none of B, C and D.");
  }
}

void judge_model(const Where& where, const StartupFacts& reply, const mpa::EnhancedData& asked, Findings& findings) {
  const mpa::EnhancedData& answer = *reply.enhanced;
  if (!types_fit_model(asked)) return;  // what was meant is unknown, and told of the Request
  if (answer.peer_to_peer && !asked.peer_to_peer) {
    findings.add(kModelAdded, where, "A is set in the Reply and clear in the Request.");
  } else if (!reply.reject && !answer.peer_to_peer && asked.peer_to_peer) {
    findings.add(kModelDropped, where, "A is clear in the Reply and set in the Request.");
  } else if (!reply.reject && answer.peer_to_peer && !answer.rtr.any()) {
    findings.add(kNoTypeAccepted, where, "A is set, and none of B, C and D.");
  }
}

// Either end may leave a depth to the ULP by 0x3FFF (MPA2-9.1-19): the Responder may do so for a depth that was asked
// for, but what the Request leaves is left in the Reply, too. A rejecting Reply may name the ORD that it would need
// (MPA2-9.1-11).
void judge_depths(const StartupSeen& seen, const mpa::EnhancedData& asked, const mpa::EnhancedData& answer,
                  Findings& findings) {
  const auto ord = mpa::from_wire(answer.ord);
  const auto ird = mpa::from_wire(answer.ird);
  const auto asked_ird = mpa::from_wire(asked.ird);
  const auto asked_ord = mpa::from_wire(asked.ord);
  if (ird && !asked_ord) {
    findings.add(kIrdNotLeft, {&seen.piece, kEnhancedAt, 2},
                 fmt::format("The IRD of the Reply is {}, and the ORD of the Request is 0x3FFF.", *ird));
  }
  if (ord && !asked_ird) {
    findings.add(kOrdNotLeft, {&seen.piece, kEnhancedAt + 2, 2},
                 fmt::format("The ORD of the Reply is {}, and the IRD of the Request is 0x3FFF.", *ord));
  }
  if (ord && asked_ird && *ord > *asked_ird) {
    findings.add(kDepthTooLarge, {&seen.piece, kEnhancedAt + 2, 2},
                 fmt::format("The ORD of the Reply is {}, the IRD of the Request {}.", *ord, *asked_ird));
  }
  if (ird && asked_ord && *ird < *asked_ord) {
    findings.add(
        kDepthTooSmall, {&seen.piece, kEnhancedAt, 2},
        fmt::format("The IRD of the Reply is {}, the ORD of the Request {}: the Initiator has to keep fewer Reads "
                    "outstanding than it wanted.",
                    *ird, *asked_ord));
  }
}

void judge_reply(const StartupSeen& seen, const StartupFacts& request, const StartupFacts& reply, Findings& findings) {
  const Where flags{&seen.piece, kAnswerFlagsAt, 2};
  if (request.enhanced && !reply.enhanced) {
    // A Responder of revision 1 may refuse what it does not know.
    if (reply.reject && reply.revision < kFirstEnhancedRevision) return;
    return findings.add(kReplyUnenhanced, flags, "S is clear in the Reply and set in the Request.");
  }
  if (!request.enhanced && reply.enhanced) {
    return findings.add(kReplyEnhanced, flags, "S is set in the Reply and clear in the Request.");
  }
  if (!reply.enhanced) return;
  judge_model({&seen.piece, kEnhancedAt, mpa::kEnhancedDataSize}, reply, *request.enhanced, findings);
  if (!reply.reject) judge_depths(seen, *request.enhanced, *reply.enhanced, findings);
}

}  // namespace

void NegotiationRules::on(const StartupSeen& seen, const Facts& facts, Findings& findings) {
  if (seen.frame && seen.frame->enhanced) judge_own_types(seen, *seen.frame->enhanced, facts, findings);
  if (seen.frame && (seen.frame->reserved & kEnhancedFlag) != 0) s_without_revision_ = true;
  if (!facts.request || !facts.reply) return;
  if (seen.piece.from == Direction::kFromResponder && !s_without_revision_)
    judge_reply(seen, *facts.request, *facts.reply, findings);
  if (!facts.reply->reject && !facts.request->crc && !facts.reply->crc) {
    findings.add(kCrcOff, std::nullopt, {seen.piece.last.packet, seen.piece.first.octet}, seen.piece.stream_offset,
                 "C is clear in the Request and in the Reply: nothing checks what TCP's checksum lets through.");
  }
}

}  // namespace weft::conformance
