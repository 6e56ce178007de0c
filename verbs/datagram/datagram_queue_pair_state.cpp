// SPDX-License-Identifier: Apache-2.0
#include "verbs/datagram/datagram_queue_pair_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "verbs/objects/argument_checks.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/tuning.hpp"
#include "verbs/stream/send_checks.hpp"
#include "verbs/stream/served_queue_pair.hpp"

namespace weft::verbs::detail {

namespace {

constexpr std::size_t kHeader = DatagramLayout::kSize;
// Datagrams of one drive; then it is another socket's turn.
constexpr int kMostAtOnce = 64;
constexpr std::uint32_t kOwnQkey = 1U << 31;  // in a send's Q_Key

}  // namespace

DatagramQueuePairState::DatagramQueuePairState(Parts parts, const QueuePairAttributes& wanted,
                                               transport::DatagramSocket socket, Quota::Share share)
    : attributes(wanted),
      parts_(std::move(parts)),
      drivers_(drivers_of(*parts_.send_cq, *parts_.receive_cq)),
      socket_(std::move(socket)),
      capture_(Runtime::capture_datagrams(socket_.local())),
      qp_number_(DatagramQueuePair::number_at(socket_.local().port)),
      memory_(parts_.runtime.stags()),
      share_(std::move(share)),
      shared_places_(wanted.srq != nullptr ? &parts_.receives->places_in(parts_.receive_cq) : nullptr),
      receive_places_(wanted.max_receive_wr),
      send_places_(wanted.max_send_wr) {}

DatagramQueuePairState::~DatagramQueuePairState() = default;

// --- States

Result<void> DatagramQueuePairState::modify(QpState to) {
  const std::lock_guard lock(mutex_);
  const QpState from = state_;
  if (to == QpState::kError) return fail(), Result<void>{};
  if (to == QpState::kReset) {
    leave();
    discard();
    state_ = QpState::kReset;
    return {};
  }
  const bool next = (from == QpState::kReset && to == QpState::kInit) ||
                    (from == QpState::kInit && to == QpState::kRtr) || (from == QpState::kRtr && to == QpState::kRts);
  if (from != to && !next)
    return verbs::fail(Errc::kInvalidState, "state", "no such transition of a datagram queue pair");
  if (to == QpState::kRtr && from != to) join();
  state_ = to;
  look();  // what came since the port was opened
  settle();
  return {};
}

void DatagramQueuePairState::set_qkey(std::uint32_t qkey) {
  const std::lock_guard lock(mutex_);
  qkey_ = qkey;
}

void DatagramQueuePairState::join() {
  memory_.attach({parts_.domain->number, 0}, parts_.receives, weak_from_this());
  watch_.emplace(socket_.socket(), number_, parts_.runtime.progress_threads().of(number_));
  try {
    watch_->join(shared_from_this(), drivers_);
    parts_.runtime.add(shared_from_this());
  } catch (const std::bad_alloc&) {
    leave();
    throw;
  }
}

void DatagramQueuePairState::leave() {
  if (!watch_) return;
  watch_->leave(*this);
  watch_->end();
  watch_.reset();
  memory_.detach();
  waiting_.reset();
  parts_.runtime.forget(number_);
}

// ERROR: all work is flushed, now and what is posted later.
void DatagramQueuePairState::fail() {
  const bool first = state_.exchange(QpState::kError) != QpState::kError;
  leave();
  flush_receives();
  if (first && shares_receives()) {
    parts_.domain->device->raise(
        {.type = AsyncEventType::kLastWqeReached, .number = qp_number_, .context = attributes.context});
  }
}

void DatagramQueuePairState::discard() {
  while (const auto receive = shares_receives() ? std::nullopt : parts_.receives->take({})) {
    parts_.receives->drop(receive->buffer.cookie);
  }
  discard_completions();
  parts_.send_cq->release_all(send_places_);
  if (!shares_receives()) parts_.receives->released(parts_.receive_cq->release_all(receive_places_));
}

void DatagramQueuePairState::discard_completions() {
  parts_.send_cq->discard(qp_number_);
  if (parts_.receive_cq != parts_.send_cq) parts_.receive_cq->discard(qp_number_);
}

void DatagramQueuePairState::destroy() {
  const std::lock_guard lock(mutex_);
  leave();
  state_ = QpState::kError;
  discard_completions();
  socket_.socket().close();
  share_.drop();
}

QueuePairQuery DatagramQueuePairState::query() const {
  return {.state = state_,
          .max_send_wr = attributes.max_send_wr,
          .max_receive_wr = attributes.max_receive_wr,
          .max_send_sge = attributes.max_send_sge,
          .max_receive_sge = attributes.max_receive_sge,
          .max_inline = attributes.max_inline,
          .signal_all = attributes.signal_all};
}

// --- Receives

PostResult DatagramQueuePairState::post_receive(std::span<const ReceiveRequest> requests) {
  if (const auto fine = check_receives(attributes, state_); !fine) return fine;
  const auto result = parts_.receives->post(requests, {parts_.receive_cq.get(), &receive_places_});
  if (state_ == QpState::kError) {  // after posting: the state may have changed in between
    const std::lock_guard lock(mutex_);
    flush_receives();
  }
  return result;
}

void DatagramQueuePairState::flush_receives() {
  if (shares_receives() || state_ != QpState::kError) return;
  while (const auto receive = parts_.receives->take({})) {
    complete_receive({.wr_id = parts_.receives->complete(receive->buffer.cookie),
                      .status = WcStatus::kFlushed,
                      .opcode = WcOpcode::kReceive,
                      .qp_num = qp_number_});
  }
}

// On overflow the queue pair cannot go on; the completion queue has raised its event.
void DatagramQueuePairState::complete_receive(const WorkCompletion& completion) {
  if (parts_.receive_cq->push(completion, shares_receives() ? shared_places_ : &receive_places_)) return;
  parts_.receives->released(1);
  if (state_ != QpState::kError) fail();
}

// Only what its port, its queue pair's number and its Q_Key say is for this queue pair (docs/decisions/0032-datagrams.md).
bool DatagramQueuePairState::is_for_us(const DatagramHeader& header, const transport::Endpoint& from) const noexcept {
  return header.destination == qp_number_ && header.source == DatagramQueuePair::number_at(from.port) &&
         header.qkey == qkey_;
}

// True when something came.
bool DatagramQueuePairState::look() {
  const std::uint64_t before = received_;
  for (int i = 0; i < kMostAtOnce && receives_now() && !waiting_; ++i) {
    const auto came = socket_.receive(arrived_);
    if (!came) break;
    ++received_;
    if (came->octets > arrived_.size()) continue;
    const Bytes datagram = Bytes(arrived_).first(came->octets);
    if (capture_) capture_.received(came->from, datagram);
    const auto header = parse_datagram(datagram);
    if (!header || header->length > DatagramQueuePair::kMaxPayload || !is_for_us(*header, came->from)) continue;
    waiting_ = {.header = *header, .from = came->from.address};
    deliver();
  }
  memory_.drop_leases();
  return received_ != before;
}

// The datagram that waits, if there is a receive for it; otherwise receives_available() follows, unless there is no memory
// to remember that: then it is lost.
void DatagramQueuePairState::deliver() {
  std::optional<ddp::ReceiveBuffer> buffer;
  try {
    buffer = memory_.take_receive();
  } catch (const std::bad_alloc&) {
    waiting_.reset();
  }
  if (!buffer) return;
  const DatagramHeader& header = waiting_->header;
  WorkCompletion completion{.status = place(*buffer),
                            .opcode = WcOpcode::kReceive,
                            .solicited = header.solicited,
                            .with_immediate = header.immediate.has_value(),
                            .with_route_header = true,
                            .byte_len = static_cast<std::uint32_t>(DatagramQueuePair::kHeaderSize + header.length),
                            .qp_num = qp_number_,
                            .source_qp = header.source};
  if (header.immediate) std::ranges::copy(*header.immediate, completion.immediate.begin());
  completion.wr_id = parts_.receives->complete(buffer->cookie);
  waiting_.reset();
  complete_receive(completion);
}

WcStatus DatagramQueuePairState::place(const ddp::ReceiveBuffer& buffer) {
  const DatagramHeader& header = waiting_->header;
  if (DatagramQueuePair::kHeaderSize + header.length > buffer.capacity) return WcStatus::kLocalLengthError;
  const auto route = route_header(waiting_->from, socket_.local().address, header.length);
  const Bytes payload = Bytes(arrived_).subspan(kHeader, header.length);
  const bool placed = memory_.place_untagged(buffer, 0, route) &&
                      memory_.place_untagged(buffer, DatagramQueuePair::kHeaderSize, payload);
  return placed ? WcStatus::kSuccess : WcStatus::kLocalProtectionError;
}

// --- Sends

PostResult DatagramQueuePairState::post_send(std::span<const DatagramRequest> requests) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto sent = send_one(requests[i]);
    memory_.drop_leases();
    if (!sent) return std::unexpected(PostFailure{sent.error(), i});
  }
  return {};
}

Result<void> DatagramQueuePairState::send_one(const DatagramRequest& request) {
  const SendRequest& send = request.send;
  if (send.opcode != SendOpcode::kSend && send.opcode != SendOpcode::kSendWithImmediate) {
    return verbs::fail(Errc::kNotSupported, "opcode", "a datagram can only be sent");
  }
  if (const auto sound = check(send); !sound) return sound;
  if (const auto sound = check(send, attributes); !sound) return sound;
  if (state_ != QpState::kRts && state_ != QpState::kError) {
    return verbs::fail(Errc::kInvalidState, "queue pair", "sends need RTS");
  }
  if (send_places_.count() >= attributes.max_send_wr) parts_.send_cq->release(send_places_);
  if (send_places_.count() >= attributes.max_send_wr) return std::unexpected(full_send_queue());
  if (state_ == QpState::kError) return complete_send(send, WcStatus::kFlushed), Result<void>{};
  WcStatus status = WcStatus::kSuccess;
  const auto payload = payload_of(send, status);
  if (!payload) return std::unexpected(payload.error());
  if (status == WcStatus::kSuccess) {
    DatagramHeader header{.destination = request.to.number,
                          .source = qp_number_,
                          .qkey = (request.to.qkey & kOwnQkey) != 0 ? qkey_ : request.to.qkey,
                          .length = static_cast<std::uint16_t>(payload->size()),
                          .solicited = has(send.flags, SendFlags::kSolicited)};
    if (send.opcode == SendOpcode::kSendWithImmediate) {
      std::ranges::copy_n(send.immediate.begin(), 4, header.immediate.emplace().begin());
    }
    serialize(header, leaving_);
    send_out(Bytes(leaving_).first(kHeader + payload->size()), request.to);
  }
  complete_send(send, status);
  if (status != WcStatus::kSuccess) fail();
  return {};
}

// What the kernel does not take is lost, as on any network.
void DatagramQueuePairState::send_out(Bytes datagram, const DatagramAddress& to) {
  const transport::Endpoint receiver{.address = to.address, .port = DatagramQueuePair::port_of(to.number)};
  const bool taken = !socket_.send(datagram, receiver);
  if (capture_ && taken) capture_.sent(receiver, datagram);
}

// In leaving_, after the header. `status`: that of a send whose memory cannot be read.
Result<Bytes> DatagramQueuePairState::payload_of(const SendRequest& request, WcStatus& status) {
  const auto room = MutableBytes(leaving_).subspan(kHeader);
  if (has(request.flags, SendFlags::kInline)) return copy_inline(request, attributes.max_inline, room);
  std::uint64_t octets = 0;
  for (const Sge& sge : request.segments) octets += sge.length;
  if (octets > room.size()) return verbs::fail(Errc::kMessageTooLong, "segments", "more octets than a datagram has");
  const auto out = room.first(static_cast<std::size_t>(octets));
  if (!memory_.gather(request.segments, 0, out)) status = WcStatus::kLocalProtectionError;
  return out;
}

void DatagramQueuePairState::complete_send(const SendRequest& request, WcStatus status) {
  if (status == WcStatus::kSuccess && !attributes.signal_all && !has(request.flags, SendFlags::kSignaled)) return;
  const bool kept = parts_.send_cq->push(
      {.wr_id = request.wr_id, .status = status, .opcode = WcOpcode::kSend, .qp_num = qp_number_}, &send_places_);
  if (!kept && state_ != QpState::kError) fail();
}

// --- Drivers

void DatagramQueuePairState::settle() {
  if (!watch_) return;
  const bool stalled = waiting_.has_value();
  if (watch_->settle({.read = !stalled, .write = false}, stalled)) return;
  try {
    parts_.runtime.wake_at(number_, now() + tuning::kWatchRetry);
  } catch (const std::bad_alloc&) {
    fail();  // nobody would look at the socket again
  }
}

bool DatagramQueuePairState::drive(bool) {
  const std::lock_guard lock(mutex_);
  const bool came = look();
  settle();
  return came;
}

void DatagramQueuePairState::drive_if_free(Poller& by) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !watch_) return;
  const bool changed = watch_->driven_by(by);
  if (look() || changed) settle();
}

void DatagramQueuePairState::waited_for_by(Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (watch_ && watch_->waited_for_by(waiter)) settle();
}

void DatagramQueuePairState::is_over(const Driver& owner) {
  const std::lock_guard lock(mutex_);
  if (watch_ && watch_->is_over(owner)) settle();
}

void DatagramQueuePairState::receives_available() {
  const std::lock_guard lock(mutex_);
  if (!receives_now()) return;
  if (waiting_) deliver();
  look();
  settle();
}

void DatagramQueuePairState::deadline_passed() {
  const std::lock_guard lock(mutex_);
  settle();
}

void DatagramQueuePairState::abandon() {
  const std::lock_guard lock(mutex_);
  if (!watch_) return;
  watch_->leave(*this);
  watch_->end();
  watch_.reset();
}

// The child alone runs, and in this thread alone: no lock is needed, nor could it be had.
void DatagramQueuePairState::leave_to_parent(int nowhere) noexcept {
  state_ = QpState::kError;
  const auto& socket = socket_.socket();
  if (socket.is_open() && nowhere >= 0) ::dup3(nowhere, socket.descriptor(), O_CLOEXEC);
}

std::optional<std::uint64_t> DatagramQueuePairState::moved_if_unserved() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !receives_now() || waiting_) return std::nullopt;
  if (watch_->is_served({.read = true, .write = false}, parts_.runtime.progress_threads().has_proxy()) ||
      !socket_.socket().is_ready(true, false)) {
    return std::nullopt;
  }
  return received_;
}

}  // namespace weft::verbs::detail
