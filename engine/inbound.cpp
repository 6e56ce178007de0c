// SPDX-License-Identifier: Apache-2.0
#include "engine/inbound.hpp"

#include <utility>

#include "rdmap/admit.hpp"

namespace weft::engine {

using rdmap::Opcode;

namespace {
constexpr unsigned kTagged = 1U << 4;  // of Inbound::open_, after the queues, of which admit() lets only 0 to 3 pass
}

std::expected<InboundStep, Fault> Inbound::next(MutableBytes stream, const mpa::Landed& landed) {
  const auto fpdu = held_ ? take_held(stream) : fpdus_.next(stream, landed);
  if (!fpdu) return std::unexpected(make_fault(fpdu.error().fault, fpdu.error().stream_offset));
  if (!*fpdu) return InboundStep::kNeedMore;
  switch (examine(**fpdu)) {
    case Verdict::kGood: return InboundStep::kSegment;
    case Verdict::kNoReceive: hold(**fpdu, stream); return InboundStep::kNeedReceive;
    case Verdict::kRefused: return std::unexpected(fault(**fpdu));
  }
  std::unreachable();
}

Inbound::Verdict Inbound::examine(const mpa::Fpdu& fpdu) {
  if (const auto error = ddp::find_error(fpdu.ulpdu)) return refuse(*error);
  segment_.consumed = fpdu.consumed;
  segment_.stream_offset = fpdu.stream_offset;
  segment_.pad_nonzero = fpdu.pad_nonzero;
  segment_.ulpdu = fpdu.ulpdu;
  segment_.delivery.emplace<Placed>();
  ddp::read(fpdu.ulpdu, segment_.header);
  const auto opcode = rdmap::admit(segment_.header);
  if (!opcode) return refuse(Refusal{.error = opcode.error()});
  segment_.opcode = *opcode;
  const Verdict verdict = dispatch(*opcode, segment_.header, segment_.payload());
  if (verdict == Verdict::kGood) follow(segment_.header);
  return verdict;
}

std::optional<PayloadPlace> Inbound::landing(Bytes stream, std::size_t least) {
  const auto begun = held_ ? std::nullopt : fpdus_.begun(stream);
  if (!begun || begun->size - begun->octets.size() < least || ddp::find_error(begun->octets)) return {};
  const ddp::Header header = ddp::read(begun->octets);
  const auto opcode = rdmap::admit(header);
  if (!opcode) return {};
  PayloadPlace place{.size = begun->size - ddp::header_size(header),
                     .here = begun->octets.size() - ddp::header_size(header),
                     .behind = mpa::pad_size(begun->size) + mpa::kCrcSize};
  return find_landing(*opcode, header, place) ? std::optional(place) : std::nullopt;
}

bool Inbound::find_landing(Opcode opcode, const ddp::Header& header, PayloadPlace& place) {
  if (opcode == Opcode::kWrite) return true;
  if (opcode == Opcode::kReadResponse) {
    const auto piece = window_.landing(std::get<ddp::TaggedHeader>(header), place.size);
    if (piece) place.where = SinkPlace{piece->cookie, piece->offset};
    return piece.has_value();
  }
  if (rdmap::row(opcode).queue != ddp::QueueNumber::kSend || rdmap::is_immediate(opcode)) return false;
  const auto& untagged = std::get<ddp::UntaggedHeader>(header);
  const auto buffer = queues_.sends.landing(untagged, place.size, placement_);
  if (buffer) place.where = ReceivePlace{*buffer, untagged.offset.value};
  return buffer.has_value();
}

// A held FPDU was verified, and its Markers taken out, when it arrived; it is not looked at again.
mpa::Fpdu Inbound::take_held(MutableBytes stream) noexcept {
  mpa::Fpdu fpdu = held_->fpdu;
  fpdu.ulpdu = stream.subspan(held_->ulpdu_at, fpdu.ulpdu.size());
  held_.reset();
  return fpdu;
}

void Inbound::hold(const mpa::Fpdu& fpdu, MutableBytes stream) {
  const auto at = static_cast<std::size_t>(fpdu.ulpdu.data() - stream.data());
  held_ = std::make_unique<Held>(fpdu, at, rdmap::segment_in_error(fpdu.ulpdu));
}

Fault Inbound::fault(const mpa::Fpdu& fpdu) const {
  if (refusal_.ours) return make_local_fault(fpdu.stream_offset);
  Fault found = make_fault(refusal_.error, fpdu.stream_offset, rdmap::segment_in_error(fpdu.ulpdu));
  found.wrong_answer = refusal_.wrong_answer;
  found.in_terminate = refusal_.in_terminate;
  return found;
}

void Inbound::follow(const ddp::Header& header) noexcept {
  const auto* untagged = std::get_if<ddp::UntaggedHeader>(&header);
  const unsigned kind = untagged == nullptr ? kTagged : 1U << untagged->queue;
  const bool last = std::visit([](const auto& h) { return h.last; }, header);
  open_ = static_cast<std::uint8_t>(last ? open_ & ~kind : open_ | kind);
}

// admit() has made sure that the header is of the kind that the opcode asks for.
Inbound::Verdict Inbound::dispatch(Opcode opcode, const ddp::Header& header, Bytes payload) {
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
// DDP-8.3-05, DDP-8.3-06, SEC-5.1.1-01), also when the STag belongs to another domain (DDP-8.2-04) or stream
// (DDP-8.2-06).
Inbound::Verdict Inbound::write(const ddp::TaggedHeader& header, Bytes payload) {
  const auto placed = ddp::place_tagged(header, payload, placement_);
  if (!placed) return refuse(placed.error());
  if ((open_ & kTagged) == 0) written_ = 0;  // another Write begins
  written_ += payload.size();
  return Verdict::kGood;
}

Inbound::Verdict Inbound::read_response(const ddp::TaggedHeader& header, Bytes payload) {
  const auto piece = window_.read_response(header, payload.size());
  if (!piece) return refuse({.error = piece.error(), .wrong_answer = true});
  return delivered<ReadAnswered>(*piece, payload);
}

// All segments of a message carry the same RsvdULP (DDP-4.3-06). Of several Sends the last one's would do (DDP-4.3-08),
// but what begins as a Send and ends as Immediate Data, or the other way round, is neither: the opcode is unexpected.
Inbound::Verdict Inbound::send(Opcode opcode, const ddp::UntaggedHeader& header, Bytes payload) {
  using Where = ddp::ReceiveQueue::Where;
  const Where where = rdmap::is_immediate(opcode) ? Where::kAside : Where::kBuffer;
  if (queues_.sends.under_way().value_or(where) != where) {
    return refuse(rdmap::OperationError::kUnexpectedOpcode);
  }
  if (for_send_ && where == Where::kAside) return refuse(rdmap::OperationError::kUnexpectedOpcode);
  if (where == Where::kAside && belongs_to_send(header, payload)) return keep_for_send(header, payload);
  if (where == Where::kAside) {
    const auto fits = rdmap::check_immediate_segment(payload.size());
    if (!fits) return refuse(fits.error());
  }
  const auto placed = queues_.sends.place(header, payload, placement_, where);
  if (!placed) {
    if (const auto* error = std::get_if<ddp::UntaggedError>(&placed.error())) return refuse(*error);
    return refuse({.ours = true});
  }
  if (std::holds_alternative<ddp::NoReceivePosted>(*placed)) return Verdict::kNoReceive;
  if (const auto* filled = std::get_if<ddp::ReceiveFilled>(&*placed)) return deliver(*filled);
  return Verdict::kGood;
}

bool Inbound::belongs_to_send(const ddp::UntaggedHeader& header, Bytes payload) const noexcept {
  return combines_ && header.last && header.offset.value == 0 && payload.size() == kImmediateSize &&
         std::ranges::equal(payload.last(kSendFollows.size()), kSendFollows) && !queues_.sends.under_way();
}

// A place of its own, so that the Send's receive is the only one.
Inbound::Verdict Inbound::keep_for_send(const ddp::UntaggedHeader& header, Bytes payload) {
  if (const auto passed = queues_.sends.pass(header, payload.size()); !passed) return refuse(passed.error());
  std::ranges::copy(payload.first(kImmediateSize - kSendFollows.size()), for_send_.emplace().begin());
  segment_.delivery.emplace<Placed>();
  return Verdict::kGood;
}

// What the user is to hear of it (RDMAP-3.2-03, RDMAPX-6.1-02).
Inbound::Verdict Inbound::deliver(const ddp::ReceiveFilled& filled) {
  const rdmap::OpcodeRow& kind = *rdmap::find_opcode(rdmap::opcode_bits(filled.rsvd_ulp));
  auto& send = segment_.delivery.emplace<SendDelivered>();
  send.buffer = filled.buffer;
  send.length = filled.length;
  send.solicited = kind.solicited;
  const std::uint64_t written = std::exchange(written_, 0);
  if (kind.invalidates) send.invalidate = ddp::Stag{filled.rsvd_ulp_word};
  if (rdmap::is_immediate(kind.opcode)) {
    const auto immediate = rdmap::parse_immediate(filled.aside);
    if (!immediate) return refuse(immediate.error());
    send.immediate = *immediate;
    send.length = written;
  } else if (for_send_) {
    std::ranges::copy(*std::exchange(for_send_, std::nullopt), send.immediate.emplace().begin());
    send.combined = true;
  }
  return Verdict::kGood;
}

Inbound::Verdict Inbound::request(const ddp::UntaggedHeader& header, Bytes payload) {
  const auto placed = queues_.requests.place(header, payload);
  if (!placed) return refuse(placed.error());
  if (!*placed) return Verdict::kGood;
  const Bytes message = (*placed)->payload;
  if (rdmap::opcode_bits(header.rsvd_ulp) == std::to_underlying(Opcode::kReadRequest)) {
    const auto read = rdmap::parse_read_request(message);
    if (!read) return refuse(read.error());
    return delivered<ReadRequested>(*read);
  }
  const auto atomic = rdmap::parse_atomic_request(message);
  if (!atomic) return refuse(atomic.error());
  return delivered<AtomicRequested>(*atomic);
}

Inbound::Verdict Inbound::terminate(const ddp::UntaggedHeader& header, Bytes payload) {
  const auto placed = queues_.terminate.place(header, payload);
  if (!placed) return refuse({.error = rdmap::error_code(placed.error()), .in_terminate = true});
  if (!*placed) return Verdict::kGood;
  const auto report = rdmap::parse_terminate((*placed)->payload);
  if (!report) return refuse({.error = rdmap::error_code(report.error()), .in_terminate = true});
  terminate_ = std::make_unique<const rdmap::TerminateReport>(*report);
  return delivered<TerminateDelivered>(terminate_.get());
}

Inbound::Verdict Inbound::atomic_response(const ddp::UntaggedHeader& header, Bytes payload) {
  const auto placed = queues_.atomic_responses.place(header, payload);
  if (!placed) return refuse(placed.error());
  if (!*placed) return Verdict::kGood;
  const auto response = rdmap::parse_atomic_response((*placed)->payload);
  if (!response) return refuse({.error = rdmap::error_code(response.error()), .wrong_answer = true});
  const auto cookie = window_.atomic_response(*response);
  if (!cookie) return refuse({.error = cookie.error(), .wrong_answer = true});
  return delivered<AtomicAnswered>(*cookie, response->original);
}

bool Inbound::expect(const rdmap::OutstandingRequest& request) {
  if (!window_.start(request)) return false;
  if (std::holds_alternative<rdmap::AtomicExpected>(request.expected)) queues_.atomic_responses.post_buffers(1);
  return true;
}

// Returns the fault for a Send or Immediate Data without a posted receive (RDMAPX-6.1-03).
Fault Inbound::no_receive() const {
  return make_fault(rdmap::error_code(ddp::UntaggedError::kNoBuffer), held_->fpdu.stream_offset, held_->segment);
}

}  // namespace weft::engine
