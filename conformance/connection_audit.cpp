// SPDX-License-Identifier: Apache-2.0
// The order in which the groups of rules judge what was seen. One cause gives one finding: what a lower layer objects
// to is not shown to the layers above, and what it would have changed is unknown from there on (forget).
#include "conformance/connection_audit.hpp"

namespace weft::conformance {

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
    std::visit([this](const auto& s) { judge(s); }, *seen);
  }
}

void ConnectionAudit::judge(const StreamingSeen& seen) { tally_of(seen.from).streaming_octets = seen.octets; }

void ConnectionAudit::judge(const StartupSeen& seen) {
  note_frame(seen);
  startup_.on(seen, facts_, findings_);
  startup_order_.on(seen, facts_, findings_);
  negotiation_.on(seen, facts_, findings_);
}

void ConnectionAudit::note_frame(const StartupSeen& seen) {
  const bool first_is_initiator = walk_.initiator() == End::kFirst;
  if (opened_) {
    facts_.mss_from_initiator = first_is_initiator ? opened_->mss_of_first : opened_->mss_of_second;
    facts_.mss_from_responder = first_is_initiator ? opened_->mss_of_second : opened_->mss_of_first;
  }
  if (!seen.frame) return;
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

void ConnectionAudit::judge(const FpduSeen& fpdu) {
  tally_of(fpdu.piece.from).count(fpdu);
  if (!startup_order_.on(fpdu, facts_, findings_)) return;  // behind a rejecting Reply: MPA is over
  alignment_.on(fpdu, facts_, findings_);
  crc_.on(fpdu, facts_, findings_);
  ending_.on(fpdu);
  if (fpdu.crc == CrcVerdict::kBad) return forget(fpdu.piece.from);
  fpdu_.on(fpdu, facts_, findings_);
  markers_.on(fpdu, facts_, findings_);
  rtr_.on(fpdu, facts_, findings_);
  ulpdus_.on(fpdu, facts_, findings_);
}

void ConnectionAudit::judge(const LostSeen& lost) {
  ++tally_of(lost.from).times_lost;
  if (!startup_order_.on(lost, facts_, findings_)) fpdu_.on(lost, facts_, findings_);
  forget(lost.from);
  alignment_.forget(lost.from);
}

void ConnectionAudit::judge(const ResumedSeen& resumed) {
  tally_of(resumed.from).octets_skipped += resumed.skipped;
  forget(resumed.from);
}

void ConnectionAudit::judge(const SegmentSeen& segment) {
  startup_order_.on(segment, facts_, findings_);
  alignment_.on(segment, facts_, findings_);
}

void ConnectionAudit::judge(const EndSeen& end) {
  tally_of(end.from).ended = end.how;
  startup_order_.on(end, facts_, findings_);
  ending_.on(end, facts_, findings_);
  ulpdus_.on(end, facts_, findings_);
}

void ConnectionAudit::judge(const CaptureOver&) {
  startup_order_.finish(facts_, findings_);
  alignment_.finish(facts_, findings_);
  ulpdus_.finish(facts_, findings_);
}

void ConnectionAudit::forget(Direction from) {
  startup_order_.forget(from);
  rtr_.forget(from);
  ulpdus_.forget(from);
}

}  // namespace weft::conformance
