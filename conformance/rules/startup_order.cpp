// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/startup_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/fpdu_chain.hpp"
#include "conformance/rules/rule_group.hpp"
#include "conformance/rules/startup.hpp"
#include "conformance/rules/startup_error.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kSecondFrame{"MPA-1.2-01", kViolation, kConnection, "RFC 5044 1.2",
                            "A direction has one startup frame, and nothing but FPDUs after it."};
constexpr Rule kAfterReject{"MPA-7.1.1-16", kViolation, kConnection, "RFC 5044 7.1.1",
                            "A Reply with R set rejects the connection: no FPDU follows."};
constexpr Rule kFence{"MPA-7.1.2-17", kViolation, kConnection, "RFC 5044 7.1.2",
                      "The Responder sends no FPDU before it has received the Initiator's first one."};
constexpr Rule kMixedSegment{"MPA2-4.3-01", kWarning, kConnection, "RFC 6581 4.3",
                             "No TCP segment holds both the end of a startup frame and octets of an FPDU."};
constexpr std::array kStartupOrderRules{&kSecondFrame,         &kAfterReject, &kReplyEarlyRule,
                                        &kFpduBeforeReplyRule, &kFence,       &kMixedSegment};
const RuleGroup kStartupOrderGroup{kStartupOrderRules};

constexpr std::size_t kMostEarlySegments = 64;
constexpr std::size_t kKept = 32;  // octets of an FPDU for an excerpt later on

constexpr Direction kInitiator = Direction::kFromInitiator;
constexpr Direction kResponder = Direction::kFromResponder;

std::string sent_before(std::string_view what, const Place& place, std::optional<std::uint64_t> acknowledged,
                        std::string_view other, std::uint64_t end, const Place& complete) {
  return fmt::format("{} in packet {}, which acknowledges {} octets; {} ends at {}, in packet {}.", what, place.packet,
                     acknowledged.value_or(0), other, end, complete.packet);
}

std::string surplus_of(Direction from) {
  const bool request = from == kInitiator;
  return fmt::format(
      "Octets that are no FPDU follow the {} before the {}: PD_Length is too small, or the private data too long.",
      request ? "Request" : "Reply", request ? "Reply" : "Initiator's first FPDU");
}

}  // namespace

void StartupOrderRules::on(const SegmentSeen& seen, const Facts&, Findings&) {
  Half& sender = half(seen.from);
  if (!sender.frame_seen && sender.segments.size() < kMostEarlySegments) sender.segments.push_back(seen.segment);
}

void StartupOrderRules::on(const StartupSeen& seen, const Facts& facts, Findings&) {
  const Piece& piece = seen.piece;
  Half& sender = half(piece.from);
  sender.frame_seen = true;
  sender.frame_first = piece.first;
  sender.frame_last = piece.last;
  sender.frame_begin = piece.stream_offset;
  sender.frame_end = piece.end();
  sender.frame_acknowledged = piece.acknowledged;
  for (const TcpSegment& segment : std::exchange(sender.segments, {})) {
    if (segment.stream_offset + segment.size <= sender.frame_end) continue;
    if (segment.packet == piece.last.packet && segment.stream_offset < sender.frame_end) sender.frame_and_more = true;
  }
  sender.frame = piece;
  sender.frame_octets.assign(piece.octets.begin(), piece.octets.end());
  note_roles(seen);
  const Half& initiator = half(kInitiator);
  const Half& responder = half(kResponder);
  reply_early_ = facts.request && initiator.frame_seen && responder.frame_seen &&
                 sent_without(responder.frame_acknowledged, initiator.frame_end);
}

// Where both ends sent the same key, which of them should have waited for the other is not known.
void StartupOrderRules::note_roles(const StartupSeen& seen) {
  const auto other = seen.piece.from == kInitiator ? mpa::FrameKind::kReply : mpa::FrameKind::kRequest;
  if (mpa::frame_kind(seen.piece.octets) != other) return;
  for (Half& half : halves_) half.unknown = true;
}

bool StartupOrderRules::on(const FpduSeen& fpdu, const Facts& facts, Findings& findings) {
  if (facts.reply && facts.reply->reject) {
    if (is_startup_error(fpdu, facts)) return true;
    judge_rejected(fpdu, findings);
    return false;
  }
  Half& sender = half(fpdu.piece.from);
  if (sender.fpdu_seen) return true;
  sender.fpdu_seen = true;
  sender.first_fpdu_complete = fpdu.piece.last;
  sender.first_fpdu_end = fpdu.piece.end();
  if (fpdu.mid_stream || !sender.frame_seen) sender.unknown = true;
  if (sender.unknown) return true;
  const bool broken = judge_first(fpdu, facts, findings);
  if (sender.frame_and_more && fpdu.position == 0 && !broken) {
    findings.add(kMixedSegment, {&fpdu.piece, 0, fpdu.piece.octets.size()},
                 "This FPDU shares a TCP segment with the end of the startup frame.");
  }
  return true;
}

// The first of them is told. What was on its way before the Reply could be read was sent too early, whatever the Reply
// says.
void StartupOrderRules::judge_rejected(const FpduSeen& fpdu, Findings& findings) {
  if (rejected_told_ || fpdu.crc == CrcVerdict::kBad) return;  // with a bad CRC they are octets of the ULP
  rejected_told_ = true;
  const Where where{&fpdu.piece, 0, fpdu.piece.octets.size()};
  const Half& responder = half(kResponder);
  if (fpdu.piece.from == kInitiator && sent_without(fpdu.piece.acknowledged, responder.frame_end)) {
    return findings.add(kFpduBeforeReplyRule, where,
                        sent_before("An FPDU of the Initiator is", fpdu.piece.first, fpdu.piece.acknowledged,
                                    "the Reply", responder.frame_end, responder.frame_last));
  }
  findings.add(kAfterReject, where, "An FPDU follows a rejecting Reply.");
}

// True when the order was broken.
bool StartupOrderRules::judge_first(const FpduSeen& fpdu, const Facts& facts, Findings& findings) {
  const Piece& piece = fpdu.piece;
  if (piece.from == kResponder) {
    judge_fpdu_time(facts, findings);
    if (is_startup_error(fpdu, facts)) return false;
    const Bytes kept = piece.octets.first(std::min(piece.octets.size(), kKept));
    early_ = {piece, {kept.begin(), kept.end()}};
    return half(kInitiator).fpdu_seen ? judge_fence(findings) : half(kResponder).frame_and_more;
  }
  judge_reply_time(facts, findings);
  const Half& responder = half(kResponder);
  const bool before_reply = !responder.frame_seen || sent_without(piece.acknowledged, responder.frame_end);
  if (before_reply && responder.frame_seen) {
    fpdu_early_acknowledged_ = piece.acknowledged;
    fpdu_early_ = findings.prepare(kFpduBeforeReplyRule, {&piece, 0, piece.octets.size()},
                                   sent_before("The Initiator's first FPDU is", piece.first, piece.acknowledged,
                                               "the Reply", responder.frame_end, responder.frame_last));
    if (sent_without(piece.acknowledged, responder.frame_begin + 1)) judge_fpdu_time(facts, findings);
  }
  judge_fence(findings);
  return before_reply;
}

// Both first FPDUs were seen, or the capture is over.
bool StartupOrderRules::judge_fence(Findings& findings) {
  if (!early_) return false;
  Early early = std::move(*early_);
  early_.reset();
  const Half& initiator = half(kInitiator);
  if (initiator.unknown || half(kResponder).unknown) return false;
  const std::uint64_t awaited = initiator.fpdu_seen ? initiator.first_fpdu_end : initiator.frame_end + 1;
  if (!sent_without(early.piece.acknowledged, awaited)) return false;
  early.piece.octets = early.octets;
  findings.add(kFence, {&early.piece, 0, early.octets.size()},
               sent_before("The Responder's first FPDU is", early.piece.first, early.piece.acknowledged,
                           initiator.fpdu_seen ? "the Initiator's first FPDU" : "the Request",
                           initiator.fpdu_seen ? initiator.first_fpdu_end : initiator.frame_end,
                           initiator.fpdu_seen ? initiator.first_fpdu_complete : initiator.frame_last));
  return true;
}

// A Reply that comes while the Request lacks octets: unless it lacks them because PD_Length is too large, so that the
// first FPDU was taken for private data, or a part of it (then what follows is no FPDU: see below).
void StartupOrderRules::judge_reply_time(const Facts& facts, Findings& findings) {
  if (!reply_early_) return;
  reply_early_ = false;
  const Half& responder = half(kResponder);
  if (swallows_fpdus(kInitiator, responder.frame_acknowledged, facts)) {
    return tell_length(kInitiator,
                       "The Reply came before that many octets of private data, and the last of them are FPDUs: "
                       "PD_Length is too large.",
                       findings);
  }
  findings.add(kReplyEarlyRule, kResponder, responder.frame_first, responder.frame_end,
               sent_before("The Reply begins", responder.frame_first, responder.frame_acknowledged, "the Request",
                           half(kInitiator).frame_end, half(kInitiator).frame_last));
}

// Reports that the Initiator's first FPDU was sent too early, unless the Reply only seems to end after it because its
// PD_Length is too large.
void StartupOrderRules::judge_fpdu_time(const Facts& facts, Findings& findings) {
  if (fpdu_early_ && swallows_fpdus(kResponder, fpdu_early_acknowledged_, facts)) {
    return tell_length(kResponder,
                       "The Initiator's first FPDU came before that many octets of private data, and the last of them "
                       "are FPDUs: PD_Length is too large.",
                       findings);
  }
  if (fpdu_early_) findings.add(std::move(*fpdu_early_));
  fpdu_early_.reset();
}

// Whether FPDUs begin where the other end, when it went on, took the frame to end, and end with it.
bool StartupOrderRules::swallows_fpdus(Direction from, std::optional<std::uint64_t> received, const Facts& facts) {
  Half& sender = half(from);
  if (!received || *received < sender.frame_begin + mpa::kFixedFrameSize || !facts.request || !facts.reply)
    return false;
  const bool markers = from == kInitiator ? facts.reply->markers : facts.request->markers;
  Track track{{.crc = facts.request->crc || facts.reply->crc, .markers = markers}, 0};
  Effort effort;
  auto at = static_cast<std::size_t>(*received - sender.frame_begin);
  if (at >= sender.frame_octets.size()) return false;
  while (at < sender.frame_octets.size()) {
    if (row_goes_on(sender.frame_octets, at, track, false, effort) != Verdict::kYes) return false;
  }
  sender.unknown = sender.swallowed = true;
  return true;
}

// Octets after the frame, sent when their sender had to be silent: the Initiator waits for the Reply, the Responder for
// the Initiator's first FPDU, of which nothing had arrived.
bool StartupOrderRules::surplus(Direction from, std::optional<std::uint64_t> acknowledged) noexcept {
  const Half& initiator = half(kInitiator);
  const Half& responder = half(kResponder);
  if (from == kInitiator) return !responder.frame_seen || sent_without(acknowledged, responder.frame_end);
  const bool known = initiator.frame_seen && (initiator.fpdu_seen || !initiator.unknown);
  return known && sent_without(acknowledged, initiator.frame_end + 1);
}

void StartupOrderRules::tell_length(Direction from, std::string message, Findings& findings) {
  Half& sender = half(from);
  reply_early_ = false;
  fpdu_early_.reset();
  sender.frame.octets = sender.frame_octets;
  findings.add(kLengthFieldRule, {&sender.frame, 18, 2}, std::move(message));
}

bool StartupOrderRules::on(const LostSeen& lost, const Facts& facts, Findings& findings) {
  const bool frame = lost.reason == LossReason::kNotAnFpdu && lost.key;
  if (frame) {
    findings.add(kSecondFrame, lost.from, lost.place, lost.stream_offset,
                 fmt::format("Here an FPDU should begin, and a second startup frame does: a {}.",
                             *lost.key == mpa::FrameKind::kRequest ? "Request" : "Reply"));
  }
  const bool explained = frame || explain(lost, facts, findings);
  forget(lost.from);
  return explained;
}

// Where the FPDU stream should begin there is no FPDU: PD_Length says something else than what was sent.
bool StartupOrderRules::explain(const LostSeen& lost, const Facts& facts, Findings& findings) {
  const Half& sender = half(lost.from);
  const bool at_begin = sender.frame_seen && !sender.fpdu_seen && lost.stream_offset == sender.frame_end;
  const bool from_initiator = lost.from == kInitiator;
  if (lost.reason != LossReason::kNotAnFpdu || !at_begin || !(from_initiator ? facts.request : facts.reply)) {
    return false;
  }
  if (surplus(lost.from, lost.acknowledged)) {
    tell_length(lost.from, surplus_of(lost.from), findings);
  } else if (from_initiator && reply_early_) {
    tell_length(lost.from,
                "The Reply came before that many octets of private data, and no FPDU follows them: PD_Length is too "
                "large.",
                findings);
  } else if (!from_initiator && fpdu_early_) {
    tell_length(lost.from,
                "The Initiator's first FPDU came before that many octets of private data, and no FPDU follows them: "
                "PD_Length is too large.",
                findings);
  } else {
    return false;
  }
  return true;
}

bool StartupOrderRules::on(const EndSeen& end, const Facts& facts, Findings& findings) {
  const Half& sender = half(end.from);
  const bool begun = end.unfinished > 0 && sender.frame_seen && !sender.fpdu_seen && !sender.unknown;
  const bool at_begin = begun && end.unfinished_offset == sender.frame_end;
  const bool explained = at_begin && (end.from == kInitiator ? facts.request : facts.reply) &&
                         surplus(end.from, end.unfinished_acknowledged);
  if (explained) tell_length(end.from, surplus_of(end.from), findings);
  return explained;
}

// Octets that the capture lost may hold what would tell.
void StartupOrderRules::forget(Direction from) {
  if (!half(from).fpdu_seen) half(from).unknown = true;
  if (from == kResponder) fpdu_early_.reset();
}

// What had not arrived is certain without the Initiator's first FPDU: unless its Request may be shorter than it seems.
void StartupOrderRules::finish(const Facts& facts, Findings& findings) {
  const bool request_known = half(kInitiator).frame_seen && !reply_early_;
  judge_reply_time(facts, findings);
  judge_fpdu_time(facts, findings);
  if (request_known) judge_fence(findings);
}

}  // namespace weft::conformance
