// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "engine/state.hpp"
#include "rdmap/control.hpp"

namespace weft::engine {

using Want = ReceiveResult::Want;

namespace {

// The peer ended its direction, but not as it should have: LLP error 1 (MPA-8-01) with the rule of DDP that it broke.
Fault end_fault(std::string_view clause, std::string_view sentence, std::uint64_t stream_offset) {
  Fault fault = make_fault(mpa::Fault::kConnectionLost, stream_offset);
  fault.clause = clause;
  fault.sentence = sentence;
  return fault;
}

bool is_write(const ddp::Header& header) {
  const auto* const tagged = std::get_if<ddp::TaggedHeader>(&header);
  return tagged != nullptr && rdmap::opcode_bits(tagged->rsvd_ulp) == std::to_underlying(rdmap::Opcode::kWrite);
}

// The work request whose message a peer quotes. What we sent as responses belongs to none: its STag is the peer's own
// and may be that of a Write, too, and its MSN is that of another queue.
SendEntry* find_quoted(SendQueue& queue, const ddp::Header& header) {
  if (const auto* tagged = std::get_if<ddp::TaggedHeader>(&header)) {
    return is_write(header) ? queue.find_write(tagged->stag, tagged->offset) : nullptr;
  }
  const auto& untagged = std::get<ddp::UntaggedHeader>(header);
  const auto number = ddp::queue_number(untagged.queue);
  if (number == ddp::QueueNumber::kSend) return queue.find_untagged(untagged.msn, false);
  if (number == ddp::QueueNumber::kRequest) return queue.find_untagged(untagged.msn, true);
  return nullptr;
}

}  // namespace

ReceiveResult Engine::State::receive(MutableBytes octets, Instant now, const mpa::Landed& landed) {
  std::size_t consumed = 0;
  std::uint32_t frames = 0;
  ReceiveResult step{};
  do {
    step = receive_step(octets.subspan(consumed), now, consumed == 0 ? landed : mpa::Landed{});
    consumed += step.consumed;
    ++frames;
  } while (step.consumed > 0 && step.want == Want::kMore && consumed < octets.size());
  unconsumed = step.want == Want::kMore ? octets.size() - consumed : 0;
  if (!octets.empty()) octets_moved(now);
  watch_frame(consumed != 0, now);
  if (ending.peer_fin_waits() && step.want == Want::kMore) handle_fin(now);
  settle(now);
  return {.consumed = consumed,
          .want = step.want,
          .frames = step.consumed == 0 ? frames - 1 : frames,
          .missing = step.missing};
}

// The clock of an FPDU runs from its first octets on, and no later ones set it back (SEC-6.4.4-01).
void Engine::State::watch_frame(bool another, Instant now) noexcept {
  if (unconsumed == 0 || !rdma) {
    deadlines.frame = kNever;
  } else if (another || deadlines.frame == kNever) {
    deadlines.frame = behind(now, config.fpdu_timeout);
  }
}

// The octets of the part belong to the next FPDU, or to the one that is not complete: its clock runs.
void Engine::State::holds_part(bool on, Instant now) noexcept {
  if (!rdma || !rdmap::takes_segments(stream)) return;
  if (on && deadlines.frame == kNever) deadlines.frame = behind(now, config.fpdu_timeout);
  if (!on && unconsumed == 0) deadlines.frame = kNever;
}

ReceiveResult Engine::State::receive_step(MutableBytes octets, Instant now, const mpa::Landed& landed) {
  if (ending.over()) return {.consumed = octets.size(), .want = Want::kNothing};
  if (events.full()) return {.want = Want::kPollEvents};
  switch (startup.phase()) {
    case mpa::Phase::kIdle:
    case mpa::Phase::kAwaitingReply:
    case mpa::Phase::kMustSendFirst:
    case mpa::Phase::kAwaitingRequest:
    case mpa::Phase::kDeciding: return receive_startup(octets, now);
    case mpa::Phase::kRejected:
    case mpa::Phase::kFailed: return {.consumed = octets.size(), .want = Want::kNothing};
    case mpa::Phase::kFenced:
    case mpa::Phase::kOpen: return receive_fpdu(octets, now, landed);
  }
  std::unreachable();
}

ReceiveResult Engine::State::receive_fpdu(MutableBytes octets, Instant now, const mpa::Landed& landed) {
  if (stream == rdmap::StreamState::kHalfClosed && !octets.empty()) {  // DDP-6.2.1-04
    fail(end_fault("DDP-6.2.1-04", "octets arrived after the peer had closed its direction", rdma->inbound.position()),
         now);
  }
  if (!rdmap::takes_segments(stream)) return {.consumed = octets.size(), .want = Want::kNothing};  // DDP-7.1-20
  const auto step = rdma->inbound.next(octets, landed);
  if (startup.phase() == mpa::Phase::kFenced && rdma->inbound.verified_any()) startup.first_fpdu_received();
  if (!step) {
    if (step.error().ours) give_back_receive(WorkStatus::kLocalProtection);
    fail(step.error(), now);
    return {.consumed = octets.size(), .want = Want::kNothing};
  }
  if (*step == InboundStep::kNeedMore) return {.want = Want::kMore, .missing = rdma->inbound.missing()};
  if (*step == InboundStep::kNeedReceive) return wait_for_receive(now);
  const InboundSegment& segment = rdma->inbound.segment();
  take(segment, now);
  return {.consumed = segment.consumed, .want = Want::kMore};
}

// Without a CRC a copy out of the cache costs less than a read for each frame (docs/performance.md).
Landing Engine::State::landing(Bytes octets) {
  const bool receiving = rdma && stream != rdmap::StreamState::kHalfClosed && rdmap::takes_segments(stream);
  if (!receiving || ending.over() || events.full()) return {};
  if (config.early_placement == 0 || !rdma->inbound.checks_crc()) return {};
  const auto place = rdma->inbound.landing(octets, config.early_placement);
  if (!place) return {};
  if (std::holds_alternative<std::monostate>(place->where)) {
    return {.behind = place->behind, .unplaced = place->size - place->here};
  }
  const auto memory_of = [&](const auto& where) { return find_memory(where, place->size); };
  const MutableBytes whole = std::visit(memory_of, place->where);
  return whole.empty() ? Landing{} : Landing{whole.subspan(place->here), place->behind};
}

MutableBytes Engine::State::find_memory(std::monostate, std::size_t) { return {}; }
MutableBytes Engine::State::find_memory(const SinkPlace& sink, std::size_t size) {
  return memory.landing(queue.at(sink.ticket).local(), sink.offset, size);
}
MutableBytes Engine::State::find_memory(const ReceivePlace& receive, std::size_t size) {
  return memory.landing(receive.buffer, receive.offset, size);
}

// DDP-7.1-04 or DDP-7.1-06, as the user prefers. Nothing after it is looked at meanwhile, so no request is answered
// before the message ahead of it is complete (RDMAP-B-03, RDMAPX-7-03, RDMAPX-7-04, RDMAPX-7-13). The clock runs from
// the first time on until the stream goes on: receives that other streams take from a shared queue do not stop it.
// Other streams feel nothing of a peer that sends too much (SEC-6.4.3.1-04).
ReceiveResult Engine::State::wait_for_receive(Instant now) {
  if (config.no_receive == NoReceive::kTerminate) {
    fail(rdma->inbound.no_receive(), now);
    return {0, Want::kNothing, 0};
  }
  if (!deadlines.receive) {
    deadlines.receive = now + config.no_receive_timeout;
    events.push(ReceiveStalled{rdma->inbound.no_receive().stream_offset});
  }
  return {0, Want::kReceive, 0};
}

void Engine::State::take(const InboundSegment& segment, Instant now) {
  deadlines.receive.reset();
  first_segment(segment);
  if (segment.pad_nonzero && !std::exchange(pad_remarked, true)) {
    events.push(Remark{"the peer pads FPDUs with octets that are not zero (MPA-4.1-03)", segment.stream_offset});
  }
  std::visit([&](const auto& delivery) { deliver(delivery, segment, now); }, segment.delivery);
}

// --- What a segment led to

// The target of a Write hears nothing (SEC-2.2.6-01); an operation that reads or changes the octets next finds them
// written (RDMAP-B-06, RDMAPX-7-14).
void Engine::State::deliver(const Placed&, const InboundSegment&, Instant) {}

// In its turn (RDMAP-B-01), when all that was sent before it has been placed (RDMAP-5.5-11, RDMAP-B-04, RDMAPX-7-06).
void Engine::State::deliver(const SendDelivered& send, const InboundSegment& segment, Instant now) {
  Received& received = events.push_received();
  received.cookie = send.buffer.cookie;
  static_cast<Delivered&>(received) = static_cast<const Delivered&>(send);
  if (!send.invalidate) return;
  if (memory.invalidate(*send.invalidate)) {  // RDMAP-5.3-13, RDMAP-5.3-14
    received.invalidated = send.invalidate;
    return;
  }
  received.status = WorkStatus::kFlushed;  // RDMAP-5.3-15
  fail(make_fault(rdmap::kCannotInvalidate, segment.stream_offset, rdmap::segment_in_error(segment.ulpdu)), now);
}

// All of the source is checked before the first octet is answered, and again while it is read (RDMAP-7.2-09); what is
// refused is told to both users (RDMAP-3.2-09).
void Engine::State::deliver(const ReadRequested& read, const InboundSegment& segment, Instant now) {
  const rdmap::ReadRequest& request = read.request;
  if (request.size > 0) {  // RDMAP-5.2.1-14, SEC-6.3.5-04: a Read of nothing validates nothing
    const auto allowed = memory.check_read(request.source_stag, request.source_offset, request.size);
    if (!allowed) {
      auto quoted = rdmap::segment_in_error(segment.ulpdu);
      quoted.read_request = request;  // RDMAP-7.1-04
      return fail(make_fault(rdmap::request_error(allowed.error()), segment.stream_offset, quoted), now);
    }
  }
  queue_response({rdmap::segment_in_error(segment.ulpdu), request, segment.stream_offset}, now);
}

void Engine::State::deliver(const AtomicRequested& atomic, const InboundSegment& segment, Instant now) {
  queue_response({rdmap::segment_in_error(segment.ulpdu), atomic.request, segment.stream_offset}, now);
}

// A whole request (RDMAPX-5.4-06), of which our user hears nothing (RDMAP-3.2-08). The queue is bounded, and one
// request too many ends the stream (SEC-2.2.8-01, SEC-6.4.3.3-03).
void Engine::State::queue_response(const rdmap::InboundRequest& request, Instant now) {
  const auto queued = rdma->responses.push(request);
  if (!queued) fail(make_fault(rdmap::error_code(queued.error()), request.stream_offset, request.segment), now);
}

void Engine::State::deliver(const ReadAnswered& answer, const InboundSegment&, Instant now) {
  if (!put_response(answer.piece.cookie, answer.piece.offset, answer.payload, now)) return;
  if (answer.piece.complete) queue.finish(answer.piece.cookie, WorkStatus::kSuccess);  // RDMAP-5.5-26
}

// The user gets the value in the byte order of the host, as it would read it from memory itself (RDMAPX-5.2.2-09), and
// not before is the operation complete (RDMAPX-5.4-01).
void Engine::State::deliver(const AtomicAnswered& answer, const InboundSegment&, Instant now) {
  std::array<std::byte, sizeof answer.original> octets;
  std::memcpy(octets.data(), &answer.original, octets.size());
  if (put_response(answer.cookie, 0, octets, now)) queue.finish(answer.cookie, WorkStatus::kSuccess);
}

bool Engine::State::put_response(std::uint64_t ticket, std::uint32_t offset, Bytes octets, Instant now) {
  if (octets.empty() || memory.scatter(queue.at(ticket).local(), offset, octets)) return true;
  queue.finish(ticket, WorkStatus::kLocalProtection);
  fail(make_local_fault(rdma->inbound.position()), now);
  return false;
}

// --- The peer's Terminate: tell the user (RDMAP-3.2-11), stop, close. It is never answered with another (RDMAP-5.4-07,
// RDMAP-5.4-11).

void Engine::State::deliver(const TerminateDelivered& terminate, const InboundSegment& segment, Instant now) {
  ErrorReport report = report_of(terminate.report->meant().error);
  report.stream_offset = segment.stream_offset;
  const bool of_completed_write = blame(terminate.report->meant());
  if (announcement.cancel()) {  // instead of a ready-to-receive message: the initiator gave up
    deadlines.startup.reset();
    events.push(StartupFailed{report, false});
  } else {
    events.push(TerminateReceived{.report = report,
                                  .known_departure = terminate.report->siw_layout,
                                  .of_completed_write = of_completed_write,
                                  .inside_message = rdma->inbound.inside_message()});
  }
  step(rdmap::StreamEvent::kTerminateReceived);
  give_back_receive(WorkStatus::kFlushed);
  rdma->outbound.stop();
  ending.begin(now + config.close_timeout);
}

// If the Terminate quotes one of our messages, its work request failed and was not just flushed. Returns true if it
// quotes an RDMA Write that has completed: TCP had taken it.
bool Engine::State::blame(const rdmap::Terminate& terminate) {
  if (!terminate.ddp_header) return false;
  const auto header = ddp::parse(terminate.ddp_header->octets());
  if (!header) return false;
  SendEntry* entry = find_quoted(queue, *header);
  // siw, when it refuses a Read while answering it, quotes the size where the MSN belongs; the Read Request tells as
  // well.
  if (entry == nullptr && terminate.read_request) entry = queue.find_read(*terminate.read_request);
  if (entry == nullptr) return is_write(*header);
  entry->status = rdmap::refuses_memory(terminate.error) ? WorkStatus::kRemoteAccess : WorkStatus::kRemoteOperation;
  entry->stage = SendEntry::Stage::kDone;
  return false;
}

// --- The peer's FIN

void Engine::State::end_of_stream(Instant now) {
  if (ending.over() || ending.peer_finished()) return;
  if (rdma && rdma->inbound.holds_segment()) {
    ending.peer_fin_is_here();  // what arrived before it comes first, if it is still looked at: settle() knows
  } else {
    handle_fin(now);
  }
  settle(now);
}

void Engine::State::handle_fin(Instant now) {
  ending.peer_has_finished();
  if (stream == rdmap::StreamState::kStartup) {
    if (!ending.begun()) on_startup(startup.closed(), now);  // else: the peer read our rejection
    return;
  }
  if (!rdmap::takes_segments(stream)) return;
  if (unconsumed > 0) return fail(make_fault(mpa::Fault::kClosedInsideFpdu, rdma->inbound.position()), now);
  if (rdma->inbound.inside_message()) {  // no graceful close: octets are missing
    return fail(end_fault("DDP-5.2-04", "the peer closed its direction inside a DDP message", rdma->inbound.position()),
                now);
  }
  if (announcement.awaits_rtr) return fail(make_fault(mpa::Fault::kClosedInStartup, 0), now);
  events.push(PeerClosed{});  // MPA-7.2-02, DDP-3-11
  step(rdmap::StreamEvent::kPeerFinished);
}

}  // namespace weft::engine
