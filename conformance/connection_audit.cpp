// SPDX-License-Identifier: Apache-2.0
// The order in which the groups of rules judge what was seen. One cause gives one finding: what a lower layer objects
// to is not shown to the layers above, and what it would have changed is unknown from there on (forget).
#include "conformance/connection_audit.hpp"

#include <utility>
#include <variant>

#include "conformance/rules/alignment.hpp"
#include "conformance/rules/crc.hpp"
#include "conformance/rules/ending.hpp"
#include "conformance/rules/fpdu.hpp"
#include "conformance/rules/markers.hpp"
#include "conformance/rules/negotiation.hpp"
#include "conformance/rules/rtr.hpp"
#include "conformance/rules/rule_group.hpp"
#include "conformance/rules/startup.hpp"
#include "conformance/rules/startup_missing.hpp"
#include "conformance/rules/startup_order.hpp"
#include "conformance/rules/ulpdu_rules.hpp"

namespace weft::conformance {

// Here, because a program that links this file links the files of all groups.
constinit const RuleGroup* RuleGroup::first_ = nullptr;

struct ConnectionAudit::Rules {
  StartupRules startup{};
  StartupOrderRules startup_order{};
  StartupMissingRules startup_missing{};
  NegotiationRules negotiation{};
  RtrRules rtr{};
  FpduRules fpdu{};
  CrcRules crc{};
  MarkerRules markers{};
  AlignmentRules alignment{};
  EndingRules ending{};
  UlpduRules ulpdus{};
};

ConnectionAudit::ConnectionAudit(std::size_t number) : findings_(number) {}
ConnectionAudit::~ConnectionAudit() = default;
ConnectionAudit::ConnectionAudit(ConnectionAudit&&) noexcept = default;
ConnectionAudit& ConnectionAudit::operator=(ConnectionAudit&&) noexcept = default;

std::optional<mpa::Rtr> ConnectionAudit::rtr() const noexcept {
  return rules_ == nullptr ? std::nullopt : rules_->rtr.sent();
}

void ConnectionAudit::on(const TcpEvent& event) {
  if (const auto* opened = std::get_if<TcpOpened>(&event)) opened_ = *opened;
  walk_.feed(event);
  drain();
}

void ConnectionAudit::finish() {
  walk_.finish();
  drain();
}

void ConnectionAudit::drain() {
  while (const auto seen = walk_.next()) {
    note_roles();
    if (rules_ == nullptr) {
      const bool early = std::holds_alternative<StreamingSeen>(*seen) || std::holds_alternative<EndSeen>(*seen) ||
                         std::holds_alternative<CaptureOver>(*seen);
      if (!early || walk_.iwarp()) begin_rules();
    }
    std::visit([this](const auto& s) { judge(s); }, *seen);
  }
}

// A Request that arrives late may show that the ends have the opposite roles. The state of all rules is by direction.
void ConnectionAudit::note_roles() {
  const auto before = std::exchange(initiator_, walk_.initiator());
  if (!before || before == initiator_ || rules_ == nullptr) return;
  std::swap(tallies_[0], tallies_[1]);
  findings_.swap_directions();
  begin_rules();
  lose(Direction::kFromInitiator);
  lose(Direction::kFromResponder);
}

// The rules take much more memory than the walk.
void ConnectionAudit::begin_rules() {
  rules_ = std::make_unique<Rules>();
  for (const EndSeen& end : std::exchange(ends_seen_, {})) judge(end);
}

void ConnectionAudit::judge(const StreamingSeen& seen) { tally_of(seen.from).streaming_octets = seen.octets; }

void ConnectionAudit::judge(const StartupSeen& seen) {
  note_frame(seen);
  rules_->startup.on(seen, facts_, findings_);
  rules_->startup_order.on(seen, facts_, findings_);
  rules_->startup_missing.on(seen, facts_, findings_);
  rules_->negotiation.on(seen, facts_, findings_);
  rules_->ulpdus.on(seen);
}

void ConnectionAudit::note_frame(const StartupSeen& seen) {
  tally_of(seen.piece.from).octets_read += seen.piece.octets.size();
  const bool first_is_initiator = walk_.initiator() == End::kFirst;
  if (opened_) {
    facts_.mss_from_initiator = first_is_initiator ? opened_->mss_of_first : opened_->mss_of_second;
    facts_.mss_from_responder = first_is_initiator ? opened_->mss_of_second : opened_->mss_of_first;
  }
  if (!seen.frame) {
    const bool unfinished = seen.frame.error() == mpa::Fault::kStartupCutShort;
    (seen.piece.from == Direction::kFromInitiator ? facts_.no_request : facts_.no_reply) = {
        unfinished ? NoFrame::Why::kUnfinished : NoFrame::Why::kMalformed, seen.piece.first.packet};
    return;
  }
  const mpa::StartupFrame& frame = *seen.frame;
  const StartupFacts facts{.revision = frame.revision,
                           .markers = frame.markers,
                           .crc = frame.crc,
                           .reject = frame.reject,
                           .enhanced = frame.enhanced,
                           .private_data = {frame.private_data.begin(), frame.private_data.end()},
                           .packet = seen.piece.last.packet};
  (frame.kind == mpa::FrameKind::kRequest ? facts_.request : facts_.reply) = facts;
}

// Notes why a startup frame had not been reported by the end of the connection.
void ConnectionAudit::note_absence(Direction from, NoFrame& frame) {
  if (frame.why != NoFrame::Why::kNotCaptured || !walk_.initiator()) return;
  const End initiator = *walk_.initiator();
  const End end = from == Direction::kFromInitiator ? initiator : opposite(initiator);
  if (!walk_.whole(end)) return;
  const auto begun = walk_.unfinished_frame(end);
  frame = begun ? NoFrame{NoFrame::Why::kUnfinished, *begun} : NoFrame{NoFrame::Why::kNoneSent, 0};
}

void ConnectionAudit::note_unread(Direction from) {
  if (!walk_.initiator()) return;
  const End initiator = *walk_.initiator();
  const End end = from == Direction::kFromInitiator ? initiator : opposite(initiator);
  tally_of(from).octets_missing = walk_.missing(end);
  tally_of(from).octets_unread = walk_.unread(end);
}

void ConnectionAudit::judge(const FpduSeen& fpdu) {
  tally_of(fpdu.piece.from).count(fpdu);
  if (fpdu.guessed || fpdu.may_be_nested) return forget(fpdu.piece.from);
  if (!rules_->startup_order.on(fpdu, facts_, findings_)) return;  // after a rejecting Reply: MPA is over
  for (const Direction from : {Direction::kFromInitiator, Direction::kFromResponder}) {
    if (rules_->startup_order.swallowed(from)) forget(from);
  }
  rules_->startup_missing.on(fpdu, facts_, findings_);
  rules_->alignment.on(fpdu, facts_, findings_);
  rules_->crc.on(fpdu, facts_, findings_);
  rules_->ending.on(fpdu);
  if (fpdu.crc == CrcVerdict::kBad) return forget(fpdu.piece.from);
  rules_->fpdu.on(fpdu, facts_, findings_);
  rules_->markers.on(fpdu, facts_, findings_);
  rules_->rtr.on(fpdu, facts_, findings_);
  rules_->ulpdus.on(fpdu, facts_, findings_);
}

void ConnectionAudit::judge(const LostSeen& lost) {
  ++tally_of(lost.from).times_lost;
  if (!rules_->startup_order.on(lost, facts_, findings_)) rules_->fpdu.on(lost, facts_, findings_);
  lost.reason == LossReason::kCaptureGap ? lose(lost.from) : forget(lost.from);
  rules_->alignment.forget(lost.from);
}

void ConnectionAudit::judge(const ResumedSeen& resumed) {
  tally_of(resumed.from).octets_skipped += resumed.skipped;
  lose(resumed.from);
}

void ConnectionAudit::judge(const SegmentSeen& segment) {
  rules_->startup_order.on(segment, facts_, findings_);
  rules_->alignment.on(segment, facts_, findings_);
}

void ConnectionAudit::judge(const EndSeen& end) {
  tally_of(end.from).ended = end.how;
  if (rules_ == nullptr) return ends_seen_.push_back(end);
  if (!rules_->startup_order.on(end, facts_, findings_)) rules_->ending.on(end, facts_, findings_);
  rules_->ulpdus.on(end, facts_, findings_);
}

void ConnectionAudit::judge(const CaptureOver&) {
  note_unread(Direction::kFromInitiator);
  note_unread(Direction::kFromResponder);
  note_absence(Direction::kFromInitiator, facts_.no_request);
  note_absence(Direction::kFromResponder, facts_.no_reply);
  if (rules_ == nullptr) return;
  rules_->startup_order.finish(facts_, findings_);
  rules_->startup_missing.finish(facts_, findings_);
  rules_->alignment.finish(facts_, findings_);
  rules_->ulpdus.finish(facts_, findings_);
}

void ConnectionAudit::lose(Direction from) {
  rules_->startup_order.forget(from);
  rules_->rtr.forget(from);
  rules_->ulpdus.lose(from);
}

void ConnectionAudit::forget(Direction from) {
  rules_->startup_order.forget(from);
  rules_->rtr.forget(from);
  rules_->ulpdus.forget(from);
}

}  // namespace weft::conformance
