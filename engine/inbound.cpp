// SPDX-License-Identifier: Apache-2.0
#include "engine/inbound.hpp"

#include <utility>

#include "rdmap/admit.hpp"

namespace weft::engine {

using rdmap::Opcode;

std::expected<InboundStep, Fault> Inbound::next(MutableBytes stream) {
  const auto fpdu = take(stream);
  if (!fpdu) return std::unexpected(make_fault(fpdu.error().fault, fpdu.error().stream_offset));
  if (!*fpdu) return NeedMore{fpdus_.missing()};
  return segment(**fpdu, stream);
}

// A held FPDU was verified, and its Markers taken out, when it arrived; it is not looked at again.
std::expected<std::optional<mpa::Fpdu>, mpa::FpduError> Inbound::take(MutableBytes stream) {
  if (!held_) return fpdus_.next(stream);
  mpa::Fpdu fpdu = held_->fpdu;
  fpdu.ulpdu = stream.subspan(held_->ulpdu_at, fpdu.ulpdu.size());
  held_.reset();
  return fpdu;
}

std::expected<InboundStep, Fault> Inbound::segment(const mpa::Fpdu& fpdu, MutableBytes stream) {
  const auto fault = [&](const rdmap::ErrorCode& error) {
    return std::unexpected(make_fault(error, fpdu.stream_offset, rdmap::segment_in_error(fpdu.ulpdu)));
  };
  const auto header = ddp::parse(fpdu.ulpdu);
  if (!header) return fault(rdmap::error_code(header.error()));
  const auto opcode = rdmap::admit(*header);
  if (!opcode) return fault(opcode.error());
  const Bytes payload = fpdu.ulpdu.subspan(ddp::header_size(*header));
  auto outcome = dispatch(*opcode, *header, payload);
  if (!outcome && outcome.error().ours) return std::unexpected(make_local_fault(fpdu.stream_offset));
  if (!outcome) {
    Fault found = make_fault(outcome.error().error, fpdu.stream_offset, rdmap::segment_in_error(fpdu.ulpdu));
    found.wrong_answer = outcome.error().wrong_answer;
    found.in_terminate = *opcode == Opcode::kTerminate;
    return std::unexpected(found);
  }
  if (std::holds_alternative<NeedReceive>(*outcome)) {
    held_ =
        Held{fpdu, static_cast<std::size_t>(fpdu.ulpdu.data() - stream.data()), rdmap::segment_in_error(fpdu.ulpdu)};
    return NeedReceive{};
  }
  follow(*header);
  return InboundSegment{fpdu.consumed, fpdu.stream_offset,          fpdu.pad_nonzero, *header, *opcode,
                        fpdu.ulpdu,    std::get<Delivery>(*outcome)};
}

void Inbound::follow(const ddp::Header& header) noexcept {
  constexpr unsigned kTagged = 4;  // behind the queues, of which admit() lets only 0 to 3 pass
  const auto* untagged = std::get_if<ddp::UntaggedHeader>(&header);
  const unsigned kind = 1U << (untagged == nullptr ? kTagged : untagged->queue);
  const bool last = std::visit([](const auto& h) { return h.last; }, header);
  open_ = static_cast<std::uint8_t>(last ? open_ & ~kind : open_ | kind);
}

// admit() has made sure that the header is of the kind that the opcode asks for.
Inbound::Checked<Inbound::Outcome> Inbound::dispatch(Opcode opcode, const ddp::Header& header, Bytes payload) {
  switch (opcode) {
    case Opcode::kWrite: return write(std::get<ddp::TaggedHeader>(header), payload);
    case Opcode::kReadResponse: return read_response(std::get<ddp::TaggedHeader>(header), payload);
    case Opcode::kSend:
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicited:
    case Opcode::kSendSolicitedInvalidate:
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited: return send(opcode, std::get<ddp::UntaggedHeader>(header), payload);
    case Opcode::kReadRequest:
    case Opcode::kAtomicRequest: return request(std::get<ddp::UntaggedHeader>(header), payload);
    case Opcode::kTerminate: return terminate(std::get<ddp::UntaggedHeader>(header), payload);
    case Opcode::kAtomicResponse: return atomic_response(std::get<ddp::UntaggedHeader>(header), payload);
  }
  std::unreachable();
}

// What cannot be placed is an error, which the user hears of and which ends the stream (RDMAP-5.1-03, RDMAP-3.2-06,
// DDP-8.3-05, DDP-8.3-06), also when the STag belongs to another domain (DDP-8.2-04) or stream (DDP-8.2-06).
Inbound::Checked<Inbound::Outcome> Inbound::write(const ddp::TaggedHeader& header, Bytes payload) {
  const auto placed = ddp::place_tagged(header, payload, placement_);
  if (!placed) return std::unexpected(Refusal{rdmap::error_code(placed.error())});
  return Placed{};
}

Inbound::Checked<Inbound::Outcome> Inbound::read_response(const ddp::TaggedHeader& header, Bytes payload) {
  if (responses_ == Responses::kTakenAsTheyAre) return ReadAnswered{{0, 0, header.last}, payload};
  const auto piece = window_.read_response(header, payload.size());
  if (!piece) return std::unexpected(Refusal{piece.error(), false, true});
  return ReadAnswered{*piece, payload};
}

// All segments of a message carry the same RsvdULP (DDP-4.3-06). Of several Sends the last one's would do (DDP-4.3-08),
// but what begins as a Send and ends as Immediate Data, or the other way round, is neither: the opcode is unexpected.
Inbound::Checked<Inbound::Outcome> Inbound::send(Opcode opcode, const ddp::UntaggedHeader& header, Bytes payload) {
  using Where = ddp::ReceiveQueue::Where;
  const Where where = rdmap::is_immediate(opcode) ? Where::kAside : Where::kBuffer;
  if (queues_.sends.under_way().value_or(where) != where) {
    return std::unexpected(Refusal{rdmap::error_code(rdmap::OperationError::kUnexpectedOpcode)});
  }
  if (where == Where::kAside) {
    const auto fits = rdmap::check_immediate_segment(payload.size());
    if (!fits) return std::unexpected(Refusal{rdmap::error_code(fits.error())});
  }
  const auto placed = queues_.sends.place(header, payload, placement_, where);
  if (!placed) {
    if (const auto* error = std::get_if<ddp::UntaggedError>(&placed.error()))
      return std::unexpected(Refusal{rdmap::error_code(*error)});
    return std::unexpected(Refusal{{}, true});
  }
  if (std::holds_alternative<ddp::NoReceivePosted>(*placed)) return NeedReceive{};
  if (const auto* filled = std::get_if<ddp::ReceiveFilled>(&*placed)) return delivered(*filled);
  return Placed{};
}

// What the user is to hear of it (RDMAP-3.2-03, RDMAPX-6.1-02).
Inbound::Checked<Inbound::Outcome> Inbound::delivered(const ddp::ReceiveFilled& filled) {
  const rdmap::OpcodeRow& kind = *rdmap::find_opcode(rdmap::opcode_bits(filled.rsvd_ulp));
  SendDelivered send{filled.buffer, filled.length, kind.solicited, {}, {}};
  if (kind.invalidates) send.invalidate = ddp::Stag{filled.rsvd_ulp_word};
  if (rdmap::is_immediate(kind.opcode)) {
    const auto immediate = rdmap::parse_immediate(filled.aside);
    if (!immediate) return std::unexpected(Refusal{rdmap::error_code(immediate.error())});
    send.immediate = *immediate;
  }
  return send;
}

Inbound::Checked<Inbound::Outcome> Inbound::request(const ddp::UntaggedHeader& header, Bytes payload) {
  const auto placed = queues_.requests.place(header, payload);
  if (!placed) return std::unexpected(Refusal{rdmap::error_code(placed.error())});
  if (!*placed) return Placed{};
  const Bytes message = (*placed)->payload;
  if (rdmap::opcode_bits(header.rsvd_ulp) == std::to_underlying(Opcode::kReadRequest)) {
    const auto read = rdmap::parse_read_request(message);
    if (!read) return std::unexpected(Refusal{rdmap::error_code(read.error())});
    return ReadRequested{*read};
  }
  const auto atomic = rdmap::parse_atomic_request(message);
  if (!atomic) return std::unexpected(Refusal{rdmap::error_code(atomic.error())});
  return AtomicRequested{*atomic};
}

Inbound::Checked<Inbound::Outcome> Inbound::terminate(const ddp::UntaggedHeader& header, Bytes payload) {
  const auto placed = queues_.terminate.place(header, payload);
  if (!placed) return std::unexpected(Refusal{rdmap::error_code(placed.error())});
  if (!*placed) return Placed{};
  const auto report = rdmap::parse_terminate((*placed)->payload);
  if (!report) return std::unexpected(Refusal{rdmap::error_code(report.error())});
  return TerminateDelivered{*report};
}

Inbound::Checked<Inbound::Outcome> Inbound::atomic_response(const ddp::UntaggedHeader& header, Bytes payload) {
  const auto placed = queues_.atomic_responses.place(header, payload);
  if (!placed) return std::unexpected(Refusal{rdmap::error_code(placed.error())});
  if (!*placed) return Placed{};
  const auto response = rdmap::parse_atomic_response((*placed)->payload);
  if (!response) return std::unexpected(Refusal{rdmap::error_code(response.error()), false, true});
  if (responses_ == Responses::kTakenAsTheyAre) return AtomicAnswered{0, response->original};
  const auto cookie = window_.atomic_response(*response);
  if (!cookie) return std::unexpected(Refusal{cookie.error(), false, true});
  return AtomicAnswered{*cookie, response->original};
}

bool Inbound::expect(const rdmap::OutstandingRequest& request) {
  if (!window_.start(request)) return false;
  if (std::holds_alternative<rdmap::AtomicExpected>(request.expected)) queues_.atomic_responses.post_buffers(1);
  return true;
}

// Of a Send or of Immediate Data (RDMAPX-6.1-03).
Fault Inbound::no_receive() const {
  return make_fault(rdmap::error_code(ddp::UntaggedError::kNoBuffer), held_->fpdu.stream_offset, held_->segment);
}

}  // namespace weft::engine
