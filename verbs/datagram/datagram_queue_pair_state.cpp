// SPDX-License-Identifier: Apache-2.0
#include "verbs/datagram/datagram_queue_pair_state.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "verbs/objects/argument_checks.hpp"
#include "verbs/progress/runtime.hpp"
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
      qp_number_(DatagramQueuePair::number_at(socket.local().port)),
      own_(*this, std::move(socket), qp_number_),
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
    end();
    discard();
    state_ = QpState::kReset;
    return {};
  }
  const bool next = (from == QpState::kReset && to == QpState::kInit) ||
                    (from == QpState::kInit && to == QpState::kRtr) || (from == QpState::kRtr && to == QpState::kRts);
  if (from != to && !next)
    return verbs::fail(Errc::kInvalidState, "state", "no such transition of a datagram queue pair");
  if (to == QpState::kRtr && from != to) begin();
  state_ = to;
  look();  // what came since the port was opened
  settle();
  return {};
}

void DatagramQueuePairState::set_qkey(std::uint32_t qkey) {
  const std::lock_guard lock(mutex_);
  qkey_ = qkey;
}

template <typename Call>
void DatagramQueuePairState::for_each_reader(Call call) {
  call(own_);
  for (const auto& one : groups_) {
    if (one) call(*one);
  }
}

// The queue pair lives as long as a driver has the reader.
void DatagramQueuePairState::begin(DatagramReader& reader) {
  if (reader.is_open()) reader.join(std::shared_ptr<Driven>(shared_from_this(), &reader), drivers_);
}

void DatagramQueuePairState::begin() {
  memory_.attach({parts_.domain->number, 0}, parts_.receives, weak_from_this());
  try {
    for_each_reader([this](DatagramReader& reader) { begin(reader); });
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
}

void DatagramQueuePairState::end() {
  for_each_reader([](DatagramReader& reader) { reader.leave(); });
  memory_.detach();
  waiting_.reset();
}

// ERROR: all work is flushed, now and what is posted later.
void DatagramQueuePairState::fail() {
  const bool first = state_.exchange(QpState::kError) != QpState::kError;
  end();
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
  end();
  state_ = QpState::kError;
  discard_completions();
  for_each_reader([](DatagramReader& reader) { reader.close(); });
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

// --- Multicast groups

DatagramReader* DatagramQueuePairState::reader_of(const transport::Address& group) noexcept {
  const auto found =
      std::ranges::find_if(groups_, [&](const auto& one) { return one && one->is_open() && one->address() == group; });
  return found == groups_.end() ? nullptr : found->get();
}

Result<DatagramReader*> DatagramQueuePairState::open_reader(transport::DatagramSocket socket) {
  const auto place = std::ranges::find_if(groups_, [](const auto& one) { return !one || !one->is_open(); });
  if (place == groups_.end())
    return verbs::fail(Errc::kLimitExceeded, "group", "the queue pair has no place for another one");
  if (*place) {
    (*place)->reopen(std::move(socket));
  } else {
    *place = std::make_unique<DatagramReader>(*this, std::move(socket), DatagramQueuePair::kMulticastNumber);
  }
  return place->get();
}

Result<void> DatagramQueuePairState::join(const transport::Address& group) {
  const transport::Address& local = own_.address();
  if (!group.is_multicast()) return verbs::fail(Errc::kInvalidArgument, "group", "not a multicast address");
  if (group.family != local.family)
    return verbs::fail(Errc::kInvalidArgument, "group", "not of the device's IP version");
  const std::lock_guard lock(mutex_);
  if (reader_of(group) != nullptr) return {};
  auto socket = transport::DatagramSocket::join(
      {.address = group, .port = DatagramQueuePair::port_of(DatagramQueuePair::kMulticastNumber)}, local);
  if (!socket) return verbs::fail(Errc::kSystem, "group", "the system does not join it", socket.error().value());
  const auto reader = open_reader(std::move(*socket));
  if (!reader) return std::unexpected(reader.error());
  if (!receives_now()) return {};
  try {
    begin(**reader);
  } catch (const std::bad_alloc&) {
    (*reader)->close();
    throw;
  }
  settle();
  return {};
}

Result<void> DatagramQueuePairState::leave(const transport::Address& group) {
  const std::lock_guard lock(mutex_);
  DatagramReader* const reader = reader_of(group);
  if (reader == nullptr) return verbs::fail(Errc::kInvalidArgument, "group", "the queue pair has not joined it");
  reader->close();
  if (waiting_ && waiting_->to == group) {
    waiting_.reset();
    look();
    settle();
  }
  return {};
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
bool DatagramQueuePairState::is_for_us(const DatagramHeader& header, const transport::Endpoint& from,
                                       const DatagramReader& reader) const noexcept {
  return header.destination == reader.destination() && header.source == DatagramQueuePair::number_at(from.port) &&
         header.qkey == qkey_;
}

bool DatagramQueuePairState::look(DatagramReader& reader) {
  bool something = false;
  for (int i = 0; i < kMostAtOnce && reads_now() && reader.is_open(); ++i) {
    const auto came = reader.receive(arrived_);
    if (!came) break;
    something = true;
    if (came->octets > arrived_.size()) continue;
    const auto header = parse_datagram(Bytes(arrived_).first(came->octets));
    if (!header || header->length > DatagramQueuePair::kMaxPayload || !is_for_us(*header, came->from, reader)) continue;
    waiting_ = {.header = *header, .from = came->from.address, .to = reader.address()};
    deliver();
  }
  memory_.drop_leases();
  return something;
}

bool DatagramQueuePairState::look() {
  bool something = false;
  for_each_reader([&](DatagramReader& reader) { something = look(reader) || something; });
  return something;
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
  const auto route = route_header(waiting_->from, waiting_->to, header.length);
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
    own_.send(Bytes(leaving_).first(kHeader + payload->size()),
              {.address = request.to.address, .port = DatagramQueuePair::port_of(request.to.number)});
  }
  complete_send(send, status);
  if (status != WcStatus::kSuccess) fail();
  return {};
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

// --- Readers

void DatagramQueuePairState::settle() {
  const bool stalled = waiting_.has_value();
  bool settled = true;
  for_each_reader([&](DatagramReader& reader) { settled = reader.settle(stalled) && settled; });
  if (!settled) fail();
}

void DatagramQueuePairState::receives_available() {
  const std::lock_guard lock(mutex_);
  if (!receives_now()) return;
  if (waiting_) deliver();
  look();
  settle();
}

}  // namespace weft::verbs::detail
