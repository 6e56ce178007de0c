// SPDX-License-Identifier: Apache-2.0
#include "engine/outbound.hpp"

#include <algorithm>
#include <utility>

#include "rdmap/control.hpp"

namespace weft::engine {

namespace {

using rdmap::Opcode;

using Purpose = OutgoingMessage::Purpose;

constexpr auto kCarried = operations_that([](const OperationRow& kind) { return kind.carrier.has_value(); });
constexpr auto kSends = operations_that([](const OperationRow& kind) { return kind.carrier == Opcode::kSend; });
constexpr auto kFollowed = operations_that([](const OperationRow& kind) { return kind.own != nullptr; });

// A message is made where it stays: to copy it is to wait for what was just written.
template <typename Header>
void make_own(std::optional<OutgoingMessage>& message, Purpose purpose, std::uint64_t ticket, Opcode opcode,
              ddp::Msn msn, const Header& header) {
  message.emplace(purpose, ticket);
  const std::size_t size = serialize(header, message->source.emplace<OwnOctets>().octets);
  message->segments = rdmap::untagged_message(opcode, msn, static_cast<std::uint32_t>(size));
}

rdmap::AtomicOperation operation_of(const SendEntry::Order& request) noexcept {
  rdmap::AtomicOperation operation = request.atomic;
  using Kind = rdmap::AtomicOperation::Kind;
  operation.kind = request.operation == Operation::kFetchAdd ? Kind::kFetchAdd : Kind::kCmpSwap;
  return operation;
}

}  // namespace

std::expected<bool, OutboundFault> Outbound::fill(TransmitBatch& batch, std::uint64_t& position) {
  const std::uint32_t limit = cutter_.ulpdu_limit(batch);
  for (;;) {
    if (!current_) {
      const auto chosen = choose();
      if (!chosen) return std::unexpected(chosen.error());
      if (!*chosen) return false;
    }
    const std::uint32_t sent = current_->progress().sent();
    const auto octets = cutter_.cut(*current_, limit, reader_, batch);
    if (!octets && ended_) {  // a Terminate is due anyway: it need not wait for the rest of this message
      current_.reset();
      continue;
    }
    if (!octets) return std::unexpected(payload_fault(octets.error(), sent));
    if (*octets == 0) return true;
    position += *octets;
    if (current_->progress().done()) finish_message(position);
  }
}

// --- Choosing, at message boundaries only. There is nothing to choose from but RDMA Messages, all of them cut into DDP
// segments (RDMAP-3.1-01, RDMAP-6.1-02).

std::expected<bool, OutboundFault> Outbound::choose() {
  if (terminate_) {
    start_terminate();
    return true;
  }
  if (ended_) return false;
  if (follow_up_) {
    const std::uint64_t ticket = *std::exchange(follow_up_, std::nullopt);
    SendEntry& entry = parts_.queue.at(ticket);
    if (entry.request.operation == Operation::kSendImmediate) {
      start_send(ticket, entry);
    } else {
      start_own(ticket, entry);
    }
    return true;
  }
  for (;;) {
    switch (turns_.next(work_ready(), !parts_.responses.empty())) {
      case rdmap::Turns::Turn::kNobody: return false;
      case rdmap::Turns::Turn::kResponse: return start_response();
      case rdmap::Turns::Turn::kWork: {
        const auto started = start_work();
        if (!started || *started) return started;
        break;  // a local operation: nothing for the wire, go on
      }
    }
  }
}

bool Outbound::has_output() const noexcept {
  if (current_ || terminate_) return true;
  return !ended_ && (follow_up_ || !parts_.responses.empty() || work_ready());
}

// RDMAP-5.5-17: only the head of the queue is asked; what waits for credit (SEC-6.4.3.3-04) or a fence holds up all
// after it. So work leaves in the order of posting (RDMAP-1.1-02, RDMAPX-5.2.1-20, RDMAPX-6.3-06).
bool Outbound::work_ready() const noexcept { return head_may_start() == rdmap::Start::kNow; }

std::optional<rdmap::Start> Outbound::head_may_start() const noexcept {
  if (parts_.queue.nothing_to_start()) return std::nullopt;
  const SendEntry& head = parts_.queue.next();
  if (held_ && !head.internal) return std::nullopt;  // the startup is not the user's to hold
  const bool request = awaits_response(head.request.operation);
  const std::uint32_t ord = head.internal ? std::max(ord_, 1U) : ord_;
  return rdmap::may_start({request, head.request.fence}, parts_.inbound.window().outstanding(), ord);
}

bool Outbound::awaits_answers() const noexcept {
  const auto head = ended_ ? std::nullopt : head_may_start();
  return head && *head != rdmap::Start::kNow;
}

// --- Our own work

std::expected<bool, OutboundFault> Outbound::start_work() {
  const std::uint64_t ticket = parts_.queue.start();
  SendEntry& entry = parts_.queue.at(ticket);
  if (entry.request.operation == Operation::kLocal) return start_local(ticket);
  if (awaits_response(entry.request.operation)) {
    start_request(ticket, entry);
  } else {
    start_message(ticket, entry);
  }
  return true;
}

std::expected<bool, OutboundFault> Outbound::perform_local() {
  while (local_ready()) {
    if (const auto started = start_work(); !started) return std::unexpected(started.error());
  }
  return false;
}

bool Outbound::local_ready() const noexcept {
  return !ended_ && !current_ && !follow_up_ && work_ready() &&
         parts_.queue.next().request.operation == Operation::kLocal;
}

std::expected<bool, OutboundFault> Outbound::start_local(std::uint64_t ticket) {
  const auto done = parts_.memory.perform_local(parts_.queue.at(ticket).request.cookie);
  if (!done) return std::unexpected(OutboundFault{make_local_fault(parts_.inbound.position()), ticket});
  parts_.queue.finish(ticket, WorkStatus::kSuccess);
  return false;
}

// One message for each operation, however its octets are gathered (RDMAP-1.2-01, RDMAP-5.1-06); a Write with Immediate
// Data is a Write and then the other (RDMAPX-6-01), and a Send with Immediate Data the other way round: what the
// receiver has to keep for a while is the shorter one.
void Outbound::start_message(std::uint64_t ticket, SendEntry& entry) {
  const SendEntry::Order& request = entry.request;
  if (request.operation == Operation::kSendImmediate) {
    start_own(ticket, entry);
    follow_up_ = ticket;
  } else if (is_among(kSends, request.operation)) {
    start_send(ticket, entry);
  } else if (is_among(kCarried, request.operation)) {
    current_.emplace(Purpose::kWorkRequest, ticket,
                     rdmap::tagged_message(Opcode::kWrite, request.remote_stag, request.remote_offset,
                                           static_cast<std::uint32_t>(entry.length)),
                     FromWorkRequest{ticket});
    if (is_among(kFollowed, request.operation)) follow_up_ = ticket;
  } else {
    start_own(ticket, entry);
  }
}

void Outbound::start_send(std::uint64_t ticket, SendEntry& entry) {
  const SendEntry::Order& request = entry.request;
  entry.msn = sends_.take();
  const Opcode opcode = rdmap::send_opcode(request.solicited, request.invalidate.has_value());
  const ddp::Stag invalidate = request.invalidate ? *request.invalidate : ddp::Stag{};
  current_.emplace(Purpose::kWorkRequest, ticket,
                   rdmap::untagged_message(opcode, *entry.msn, static_cast<std::uint32_t>(entry.length), invalidate),
                   FromWorkRequest{ticket});
}

void Outbound::start_own(std::uint64_t ticket, SendEntry& entry) {
  entry.msn = sends_.take();
  const OwnMessage& own = *row(entry.request.operation).own;
  const bool send_follows = entry.request.operation == Operation::kSendImmediate;
  const bool solicited = entry.request.solicited && !send_follows;  // otherwise the Send solicits the event
  const Opcode opcode = solicited ? own.solicited : own.plain;
  current_.emplace(Purpose::kWorkRequest, ticket, rdmap::untagged_message(opcode, *entry.msn, own.octets));
  auto& octets = current_->source.emplace<OwnOctets>().octets;
  std::ranges::copy(entry.request.immediate, octets.begin());
  if (send_follows) std::ranges::copy(kSendFollows, octets.begin() + (kImmediateSize - kSendFollows.size()));
}

void Outbound::start_request(std::uint64_t ticket, SendEntry& entry) {
  const SendEntry::Order& request = entry.request;
  entry.msn = requests_.take();
  if (request.operation == Operation::kRead) {
    const auto length = static_cast<std::uint32_t>(entry.length);
    const rdmap::ReadRequest header{request.sink_stag, request.sink_offset, length, request.remote_stag,
                                    request.remote_offset};
    asking_ = {ticket, rdmap::ReadExpected{request.sink_stag, request.sink_offset, length}};
    make_own(current_, Purpose::kWorkRequest, ticket, Opcode::kReadRequest, *entry.msn, header);
  } else {
    const rdmap::AtomicRequest header{operation_of(request), atomic_id_++, request.remote_stag, request.remote_offset};
    asking_ = {ticket, rdmap::AtomicExpected{header.request_id}};
    make_own(current_, Purpose::kWorkRequest, ticket, Opcode::kAtomicRequest, *entry.msn, header);
  }
}

// --- What we owe the peer

// Atomics are executed here, when their turn comes: in order, once, and not before the response of the one before was
// made (RDMAPX-5.4-09, RDMAPX-7-12). What was written since the request came is seen, too (RDMAP-5.5-15,
// RDMAPX-5.4-05).
std::expected<bool, OutboundFault> Outbound::start_response() {
  const rdmap::InboundRequest& asked = parts_.responses.front();
  if (const auto* read = std::get_if<rdmap::ReadRequest>(&asked.request)) {
    current_.emplace(Purpose::kResponse, std::uint64_t{0},
                     rdmap::tagged_message(Opcode::kReadResponse, read->sink_stag, read->sink_offset, read->size),
                     FromTaggedBuffer{read->source_stag, read->source_offset});
    return true;
  }
  const auto& atomic = std::get<rdmap::AtomicRequest>(asked.request);
  const auto original = parts_.memory.atomic(atomic.stag, atomic.offset, atomic.operation);
  if (!original) {
    return std::unexpected(
        OutboundFault{make_fault(rdmap::request_error(original.error()), asked.stream_offset, asked.segment), {}});
  }
  const rdmap::AtomicResponse response{atomic.request_id, *original};
  make_own(current_, Purpose::kResponse, 0, Opcode::kAtomicResponse, atomic_responses_.take(), response);
  return true;
}

// --- The end of this direction

void Outbound::terminate(const rdmap::Terminate& message) noexcept {
  if (ended_) return;  // RDMAP-7.1-05: the first error is the one reported
  ended_ = true;       // a follow-up stays where it is: the end of its Write is not the end of the work request
  parts_.responses.clear();
  terminate_ = std::make_unique<rdmap::Terminate>(message);
}

void Outbound::stop() noexcept {
  ended_ = true;
  follow_up_.reset();
  terminate_.reset();
  current_.reset();
  parts_.responses.clear();
}

void Outbound::start_terminate() {
  const rdmap::Terminate message = *std::exchange(terminate_, nullptr);
  make_own(current_, Purpose::kTerminate, 0, Opcode::kTerminate, terminates_.take(), message);
}

// --- A message is cut to its end

void Outbound::finish_message(std::uint64_t position) {
  const Purpose purpose = current_->purpose;
  if (purpose == Purpose::kWorkRequest) finish_work(position);
  // After terminate() the queue of responses is empty, though one may still have been under way.
  if (purpose == Purpose::kResponse && !parts_.responses.empty()) {
    parts_.responses.pop();
    parts_.inbound.answered();
  }
  current_.reset();
}

// A request is expected to be answered as soon as it may be on the wire, and not before: the peer of a request that
// waits for room in a batch has nothing to answer, and an early answer would take the entry from under us.
void Outbound::finish_work(std::uint64_t position) {
  if (follow_up_) return;
  SendEntry& entry = parts_.queue.at(current_->ticket);
  const bool request = awaits_response(entry.request.operation);
  if (request) parts_.inbound.expect(asking_);
  entry.end = position;
  entry.stage = request ? SendEntry::Stage::kAwaiting : SendEntry::Stage::kCut;
}

OutboundFault Outbound::payload_fault(const PayloadFault& fault, std::uint32_t sent) {
  const OutgoingMessage broken = *std::exchange(current_, std::nullopt);
  if (std::holds_alternative<ddp::LocalFault>(fault)) {
    return {make_local_fault(parts_.inbound.position()), broken.ticket};
  }
  // RDMAP-4.8-21: what is quoted is the part of the Read that was not answered.
  const rdmap::InboundRequest& asked = parts_.responses.front();
  rdmap::SegmentInError quoted = asked.segment;
  quoted.read_request = rdmap::remainder(std::get<rdmap::ReadRequest>(asked.request), sent);
  const rdmap::ErrorCode error = rdmap::request_error(std::get<ddp::AccessError>(fault));
  return {make_fault(error, asked.stream_offset, quoted), {}};
}

}  // namespace weft::engine
