// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/startup_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/rules/startup.hpp"
#include "conformance/rules/tables.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kAfterReject{"MPA-7.1.1-16", kViolation, kConnection, "RFC 5044 7.1.1",
                            "A Reply with R set rejects the connection: no FPDU follows."};
constexpr Rule kReplyEarly{"MPA-7.1.2-12", kViolation, kConnection, "RFC 5044 7.1.2",
                           "The Reply is sent when the Request has been received, never before."};
constexpr Rule kFpduBeforeReply{"MPA-7.1.2-13", kViolation, kConnection, "RFC 5044 7.1.2",
                                "The Initiator sends no FPDU before it has received the Reply."};
constexpr Rule kFence{"MPA-7.1.2-17", kViolation, kConnection, "RFC 5044 7.1.2",
                      "The Responder sends no FPDU before it has received the Initiator's first one."};
constexpr Rule kMixedSegment{"MPA2-4.3-01", kWarning, kConnection, "RFC 6581 4.3",
                             "No TCP segment holds both the end of a startup frame and octets of an FPDU."};
constexpr std::array kStartupOrderRules{&kAfterReject, &kReplyEarly, &kFpduBeforeReply, &kFence, &kMixedSegment};

constexpr std::size_t kMostEarlySegments = 64;
constexpr std::size_t kKept = 32;  // octets of an FPDU for an excerpt later on

constexpr Direction kInitiator = Direction::kFromInitiator;
constexpr Direction kResponder = Direction::kFromResponder;

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
  sender.frame_end = piece.stream_offset + piece.octets.size();
  sender.frame_and_more = std::ranges::any_of(sender.segments, [&](const TcpSegment& segment) {
    return segment.packet == piece.last.packet && segment.stream_offset < sender.frame_end &&
           segment.stream_offset + segment.size > sender.frame_end;
  });
  sender.segments = {};
  if (piece.from == kInitiator) {
    request_ = {piece, {piece.octets.begin(), piece.octets.end()}};
  }
  const Half& initiator = half(kInitiator);
  const Half& responder = half(kResponder);
  reply_early_ = facts.request && initiator.frame_seen && responder.frame_seen &&
                 responder.frame_first.packet < initiator.frame_last.packet;
}

bool StartupOrderRules::on(const FpduSeen& fpdu, const Facts& facts, Findings& findings) {
  if (facts.reply && facts.reply->reject) {
    if (!after_reject_told_) {
      findings.add(kAfterReject, {&fpdu.piece, 0, fpdu.piece.octets.size()}, "An FPDU follows a rejecting Reply.");
    }
    after_reject_told_ = true;
    return false;
  }
  Half& sender = half(fpdu.piece.from);
  if (sender.fpdu_seen) return true;
  sender.fpdu_seen = true;
  sender.first_fpdu_complete = fpdu.piece.last;
  if (fpdu.mid_stream) sender.unknown = true;
  if (sender.unknown) return true;
  const bool broken = judge_first(fpdu, facts, findings);
  if (sender.frame_and_more && fpdu.position == 0 && !broken) {
    findings.add(kMixedSegment, {&fpdu.piece, 0, fpdu.piece.octets.size()},
                 "This FPDU shares a TCP segment with the end of the startup frame.");
  }
  return true;
}

// True when the order was broken.
bool StartupOrderRules::judge_first(const FpduSeen& fpdu, const Facts&, Findings& findings) {
  const Piece& piece = fpdu.piece;
  if (piece.from == kResponder) {
    const Bytes kept = piece.octets.first(std::min(piece.octets.size(), kKept));
    early_ = {piece, {kept.begin(), kept.end()}};
    return half(kInitiator).fpdu_seen ? judge_fence(findings) : half(kResponder).frame_and_more;
  }
  judge_reply_time(findings);
  const Half& responder = half(kResponder);
  const bool before_reply = responder.frame_seen && piece.first.packet < responder.frame_last.packet;
  if (before_reply) {
    findings.add(kFpduBeforeReply, {&piece, 0, piece.octets.size()},
                 fmt::format("The Initiator's first FPDU is in packet {}, the Reply was complete in packet {}.",
                             piece.first.packet, responder.frame_last.packet));
  }
  judge_fence(findings);
  return before_reply;
}

// Both first FPDUs were seen, or the Initiator will send none.
bool StartupOrderRules::judge_fence(Findings& findings) {
  if (!early_) return false;
  Early early = std::move(*early_);
  early_.reset();
  const Half& initiator = half(kInitiator);
  if (initiator.unknown || half(kResponder).unknown) return false;
  if (initiator.fpdu_seen && early.piece.first.packet > initiator.first_fpdu_complete.packet) return false;
  early.piece.octets = early.octets;
  const std::string other = initiator.fpdu_seen ? fmt::format("the Initiator's was complete in packet {}",
                                                              initiator.first_fpdu_complete.packet)
                                                : "the Initiator sent none";
  findings.add(kFence, {&early.piece, 0, early.octets.size()},
               fmt::format("The Responder's first FPDU is in packet {}; {}.", early.piece.first.packet, other));
  return true;
}

// A Reply that comes while the Request lacks octets: unless it lacks them because PD_Length is too large, so that the
// first FPDU was taken for private data (then what follows is no FPDU: see below).
void StartupOrderRules::judge_reply_time(Findings& findings) {
  if (!reply_early_) return;
  reply_early_ = false;
  const Half& responder = half(kResponder);
  findings.add(kReplyEarly, kResponder, responder.frame_first, responder.frame_end,
               fmt::format("The Reply begins in packet {}, the Request was complete in packet {}.",
                           responder.frame_first.packet, half(kInitiator).frame_last.packet));
}

// Where the FPDU stream should begin there is no FPDU: PD_Length says something else than what was sent.
bool StartupOrderRules::on(const LostSeen& lost, const Facts& facts, Findings& findings) {
  const Half& sender = half(lost.from);
  const bool at_begin = sender.frame_seen && !sender.fpdu_seen && lost.stream_offset == sender.frame_end;
  forget(lost.from);
  if (lost.reason != LossReason::kNotAnFpdu || !at_begin || lost.from != kInitiator || !facts.request) return false;
  const Half& responder = half(kResponder);
  const bool surplus = responder.frame_seen && lost.place.packet < responder.frame_last.packet;
  if (!surplus && !reply_early_) return false;
  reply_early_ = false;
  request_.piece.octets = request_.octets;
  findings.add(kLengthFieldRule, {&request_.piece, 18, 2},
               surplus
                   ? "Octets that are no FPDU follow the Request before the Reply: PD_Length is too small, or the "
                     "private data too long."
                   : "The Reply came before that many octets of private data, and no FPDU follows them: PD_Length is "
                     "too large.");
  return true;
}

void StartupOrderRules::on(const EndSeen& end, const Facts&, Findings& findings) {
  if (end.from != kInitiator) return;
  judge_reply_time(findings);
  if (!half(kInitiator).fpdu_seen && half(kInitiator).frame_seen) judge_fence(findings);
}

void StartupOrderRules::forget(Direction from) {
  if (!half(from).fpdu_seen) half(from).unknown = true;
}

void StartupOrderRules::finish(const Facts&, Findings& findings) { judge_reply_time(findings); }

std::span<const Rule* const> startup_order_rules() noexcept { return kStartupOrderRules; }

}  // namespace weft::conformance
