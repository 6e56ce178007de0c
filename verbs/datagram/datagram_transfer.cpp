// SPDX-License-Identifier: Apache-2.0
// What a queue pair for datagrams receives and sends, with its lock.
#include <algorithm>
#include <mutex>
#include <new>

#include "verbs/datagram/datagram_queue_pair_state.hpp"
#include "verbs/objects/argument_checks.hpp"
#include "verbs/stream/send_checks.hpp"
#include "verbs/stream/served_queue_pair.hpp"

namespace weft::verbs::detail {

namespace {

constexpr std::size_t kHeader = DatagramLayout::kSize;
constexpr std::uint32_t kOwnQkey = 1U << 31;  // in a send's Q_Key

}  // namespace
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

// Only what its port, its queue pair's number and its Q_Key say is for this queue pair
// (docs/decisions/0032-datagrams.md).
bool DatagramQueuePairState::is_for_us(const DatagramHeader& header, const transport::Endpoint& from,
                                       const DatagramReader& reader) const noexcept {
  return header.destination == reader.destination() && header.source == DatagramQueuePair::number_at(from.port) &&
         header.qkey == qkey_;
}

bool DatagramQueuePairState::look(DatagramReader& reader, int most) {
  bool something = false;
  for (int i = 0; i < most && reads_now() && reader.is_open(); ++i) {
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
  for_each_reader([&](DatagramReader& reader) { something = look(reader, DatagramReader::kMostAtOnce) || something; });
  return something;
}

// The datagram that waits, if there is a receive for it; otherwise receives_available() follows, unless there is no
// memory to remember that: then it is lost.
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
  const bool flushes = state_ == QpState::kError || state_ == QpState::kSqe;
  if (state_ != QpState::kRts && !flushes) {
    return verbs::fail(Errc::kInvalidState, "queue pair", "sends need RTS");
  }
  if (send_places_.count() >= attributes.max_send_wr) parts_.send_cq->release(send_places_);
  if (send_places_.count() >= attributes.max_send_wr) return std::unexpected(full_send_queue());
  if (flushes) return complete_send(send, WcStatus::kFlushed), Result<void>{};
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
              {.address = request.to.address, .port = DatagramQueuePair::port_of(request.to.number)},
              request.to.hop_limit);
  }
  complete_send(send, status);
  if (status != WcStatus::kSuccess && state_ == QpState::kRts) state_ = QpState::kSqe;
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

}  // namespace weft::verbs::detail
