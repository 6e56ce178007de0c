// SPDX-License-Identifier: Apache-2.0
// The order of judgement above MPA: DDP header, RDMAP header, order of segments, what the message says. A ULPDU that
// fails a step on which the next ones stand is not judged by them, so that one cause gives one finding.
#include "conformance/rules/ulpdu_rules.hpp"

#include <utility>

#include "conformance/rules/ddp_header.hpp"
#include "conformance/rules/immediate.hpp"
#include "conformance/rules/rdmap_header.hpp"
#include "ddp/untagged_queues.hpp"

namespace weft::conformance {
void UlpduRules::on(const FpduSeen& fpdu, const Facts& facts, Findings& findings) {
  Sender& here = sender(fpdu.piece.from);
  here.requests.confirm_unrequested(findings);
  here.requests.on_requester(fpdu.piece);
  sender(engine::opposite(fpdu.piece.from)).requests.on_responder(fpdu.piece);
  here.headers.add(fpdu.ulpdu, fpdu.piece.stream_offset + fpdu.piece.octets.size());
  if (!rules::judge_ddp_header(fpdu, findings)) return forget(fpdu.piece.from);
  const Ulpdu ulpdu(fpdu);
  const auto verdict = rules::judge_rdmap_header(ulpdu, findings);
  const bool flawed = verdict == rules::HeaderVerdict::kFlawed;
  if (verdict != rules::HeaderVerdict::kUnusable) end_complete_response(ulpdu, findings);
  if (verdict == rules::HeaderVerdict::kUnusable || !here.order.on(ulpdu, flawed, findings)) {
    return forget(fpdu.piece.from);
  }
  judge_message(ulpdu, facts, findings);
  here.order.conclude(ulpdu, findings);
}

// Before the segment is taken for one of the response that lacks L.
void UlpduRules::end_complete_response(const Ulpdu& ulpdu, Findings& findings) {
  if (ulpdu.opcode() != std::to_underlying(rdmap::Opcode::kReadResponse) || ulpdu.tagged() == nullptr) return;
  rules::Requests& requests = sender(engine::opposite(ulpdu.from())).requests;
  if (!requests.begins_next_response(ulpdu)) return;
  requests.end_response(findings);
  sender(ulpdu.from()).order.close_response();
}

void UlpduRules::judge_message(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  Sender& here = sender(ulpdu.from());
  Sender& peer = sender(engine::opposite(ulpdu.from()));
  const rdmap::OpcodeRow& kind = *rdmap::find_opcode(ulpdu.opcode());
  if (kind.part == rdmap::Part::kEnd) return here.terminates.on_terminate(ulpdu, peer.headers, findings);
  here.terminates.on_other(*ulpdu.fpdu, findings);
  if (ulpdu.tagged() != nullptr && ulpdu.empty_and_not_last()) {  // told as such
    if (kind.opcode == rdmap::Opcode::kReadResponse) peer.requests.on_empty_segment(ulpdu);
    return;
  }
  if (!kind.payload.is_fixed()) return judge_kind(ulpdu, facts, findings);
  rules::JoinedMessage& joined = here.joined[ulpdu.untagged()->queue];
  if (joined.open() && ulpdu.untagged()->offset.value == 0) {  // the one before has no L, so what it was is not known
    joined.forget();
    here.requests.forget();
    peer.requests.forget();
  }
  if (ulpdu.in_one_segment()) return judge_kind(ulpdu, facts, findings);
  switch (joined.take(ulpdu)) {
    case rules::JoinedMessage::Taken::kMore: return;
    case rules::JoinedMessage::Taken::kWhole: return judge_kind(joined.whole(ulpdu), facts, findings);
    case rules::JoinedMessage::Taken::kBroken: return judge_kind(ulpdu, facts, findings);
  }
}

void UlpduRules::judge_kind(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  Sender& here = sender(ulpdu.from());
  Sender& peer = sender(engine::opposite(ulpdu.from()));
  const rdmap::OpcodeRow& kind = *rdmap::find_opcode(ulpdu.opcode());
  // Behind a request or another response that has not ended: perhaps its L is what is missing.
  const auto open = [](const Sender& sender, ddp::QueueNumber queue) {
    return sender.joined[std::to_underlying(queue)].open();
  };
  if (kind.part == rdmap::Part::kResponse &&
      (open(peer, ddp::QueueNumber::kRequest) || open(here, ddp::QueueNumber::kAtomicResponse)))
    peer.requests.forget();
  if (kind.content == rdmap::Content::kAside) return rules::judge_immediate(ulpdu, findings);
  switch (kind.opcode) {
    using enum rdmap::Opcode;
    case kReadRequest: return here.requests.on_read_request(ulpdu, facts, findings);
    case kAtomicRequest: return here.requests.on_atomic_request(ulpdu, facts, findings);
    case kReadResponse:
      if (!peer.requests.on_read_response(ulpdu, {here.order.response_begun(), here.order.response_jumped()}, findings))
        here.order.excuse_response();
      return;
    case kAtomicResponse: return peer.requests.on_atomic_response(ulpdu, findings);
    default: return;
  }
}

void UlpduRules::on(const EndSeen& end, const Facts&, Findings& findings) {
  Sender& here = sender(end.from);
  here.terminates.on_end(end, findings);
  if (end.unfinished > 0) {
    here.requests.dismiss_unrequested();
  } else if (end.how == Closing::kFin) {
    here.order.end(findings);
    sender(engine::opposite(end.from)).requests.end_response(findings);
  }
}

void UlpduRules::on(const StartupSeen& startup) {
  if (!startup.frame) return;
  sender(startup.piece.from).requests.on_requester(startup.piece);
  sender(engine::opposite(startup.piece.from)).requests.on_responder(startup.piece);
}

void UlpduRules::lose(Direction from) {
  break_off(sender(from));
  sender(from).requests.lose_requests();
  sender(engine::opposite(from)).requests.lose_responses();
}

void UlpduRules::forget(Direction from) {
  break_off(sender(from));
  sender(from).requests.forget();                    // a request may be missing
  sender(engine::opposite(from)).requests.forget();  // or a response to the other end's
}

void UlpduRules::break_off(Sender& here) {
  here.order.forget();
  for (rules::JoinedMessage& joined : here.joined) joined.forget();
  here.headers.forget();
  here.requests.dismiss_unrequested();
}

void UlpduRules::finish(const Facts&, Findings& findings) {
  for (Sender& here : senders_) here.requests.confirm_unrequested(findings);
}

}  // namespace weft::conformance
