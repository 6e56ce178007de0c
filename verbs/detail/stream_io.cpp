// SPDX-License-Identifier: Apache-2.0
// Octets between the socket and the engine: many FPDUs a read, many a write, buffers held only while octets move.
#include <algorithm>
#include <cstring>
#include <utility>

#include "verbs/detail/stream.hpp"

namespace weft::verbs::detail {

void Stream::drive_locked() {
  if (finished_) return;
  blocked_ = false;  // ask the socket again
  receive_some();
  send_some();
  settle();
}

// The same where nothing has changed but perhaps the socket: a look at it that finds nothing costs little more than the
// system call.
void Stream::look_locked() {
  if (finished_) return;
  const bool came = receive_some();
  if (!came && !blocked_ && !has_output()) return park_buffers();
  blocked_ = false;
  send_some();
  settle();
}

// --- Inbound. Receiving never waits for sending: two peers that write at each other both go on reading.

// False when nothing came.
bool Stream::receive_some() {
  Read last = Read::kNothing;
  for (int reads = 0; reads < kMaxReads && !stalled_ && !inbound_over_; ++reads) {
    const Read before = std::exchange(last, read_once());
    if (last == Read::kNothing) return before != Read::kNothing;
    if (last == Read::kAll) return true;
  }
  return last != Read::kNothing;
}

Stream::Read Stream::read_once() {
  const auto room = staging_octets().subspan(staged_);
  if (room.empty()) return Read::kNothing;
  const auto io = socket_.read(room);
  switch (io.status) {
    case transport::IoResult::Status::kMoved: break;
    case transport::IoResult::Status::kWouldBlock: return Read::kNothing;
    case transport::IoResult::Status::kEndOfStream:
      inbound_over_ = true;
      tap_rest();
      if (tap_) tap_->fin_received();
      if (narrator_) narrator_->say("FIN received");
      engine_.end_of_stream(now());
      pump();
      return Read::kAll;
    case transport::IoResult::Status::kLost:
      inbound_over_ = true;
      tap_rest();
      if (tap_) tap_->rst_received();
      if (narrator_) narrator_->lost(io.error);
      engine_.connection_lost(now());
      pump();
      return Read::kAll;
  }
  if (narrator_) narrator_->received(room.first(io.octets));
  if (tap_) tap_raw_.insert(tap_raw_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(io.octets));
  staged_ += io.octets;
  present();
  return io.octets == room.size() ? Read::kSome : Read::kAll;
}

// Shows the engine what is staged and keeps what it does not take yet.
void Stream::present() {
  const auto octets = staging_octets().first(staged_);
  std::size_t taken = 0;
  for (bool more = true; more;) {
    const auto result = engine_.receive(octets.subspan(taken), now());
    taken += result.consumed;
    tap_received(result.consumed);
    const bool heard = pump_one();
    pump();
    more = result.want == engine::ReceiveResult::Want::kPollEvents && (heard || result.consumed != 0);
    stalled_ = result.want == engine::ReceiveResult::Want::kReceive;
    if (result.want == engine::ReceiveResult::Want::kNothing) {
      tap_received(staged_ - taken);
      taken = staged_;
    }
  }
  staged_ -= taken;
  if (taken != 0 && staged_ != 0) std::memmove(octets.data(), octets.data() + taken, staged_);
}

void Stream::tap_received(std::size_t consumed) {
  const std::size_t octets = std::min(consumed, tap_raw_.size());  // less after tap_rest()
  if (!tap_ || octets == 0) return;
  tap_->received(Bytes(tap_raw_).first(octets));
  tap_raw_.erase(tap_raw_.begin(), tap_raw_.begin() + static_cast<std::ptrdiff_t>(octets));
}

// Before the end of the peer's direction: what came and is no whole frame belongs into the capture too.
void Stream::tap_rest() { tap_received(tap_raw_.size()); }

MutableBytes Stream::staging_octets() {
  if (!staging_) {
    staging_ = runtime_.buffers().lease_staging();
    std::ranges::copy(carry_, staging_->octets().begin());
    carry_ = {};
  }
  return staging_->octets();
}

// The few connections of a queue that is polled all the time keep their buffers meanwhile; of many such queues, some.
bool Stream::keeps_buffers() const noexcept {
  return qp_ && qp_->parts.receive_cq->polls_few() && runtime_.buffers().may_keep_staging();
}

// An idle connection holds no buffers otherwise.
void Stream::park_buffers() {
  if (!stalled_ && keeps_buffers()) return;
  if (batch_ && batch_->empty()) give_batch_back();
  if (staging_) park_staging();
}

// One with half a frame keeps its buffer while there are enough, for the rest of the frame is on its way; else, or when
// it waits for the application, the octets move to memory of their own size.
void Stream::park_staging() {
  if (staged_ != 0 && !stalled_ && runtime_.buffers().may_keep_staging()) return;
  const auto octets = staging_->octets().first(staged_);
  carry_.assign(octets.begin(), octets.end());
  runtime_.buffers().give_back(std::move(staging_));
}

// --- Outbound

bool Stream::output_pending() const noexcept { return tail_sent_ < tail_.size() || (batch_ && !batch_->empty()); }
bool Stream::has_output() const noexcept { return output_pending() || engine_.has_output(); }

void Stream::send_some() {
  if (blocked_ || finished_ || !has_output()) return;
  const Instant time = now();
  bool more = true;
  for (int batches = 0; more && batches < kMaxBatches; ++batches) {
    if (!output_pending()) more = fill_batch(time);
    if (!output_pending() || !write_pending(time)) break;
  }
  pump();
}

// A captured connection has batches of its own that fit one captured packet.
void Stream::lease_batch() {
  batch_ = tap_ ? std::make_unique<engine::TransmitBatch>(transport::PcapTap::kMaxSegment)
                : runtime_.buffers().lease_batch();
}

void Stream::give_batch_back() {
  if (!tap_) runtime_.buffers().give_back(std::move(batch_));
  batch_.reset();
}

// True when there is more than one batch takes.
bool Stream::fill_batch(Instant time) {
  if (emss_read_at_ + kEmssRefresh < time) {
    if (const auto emss = socket_.emss(); emss != 0) engine_.set_emss(emss);
    emss_read_at_ = time;
  }
  if (!batch_) lease_batch();
  const bool more = engine_.fill(*batch_, time);
  if (tap_ && !batch_->empty()) tap_->sent(batch_->pieces());
  if (narrator_ && !batch_->empty()) narrator_->sent(batch_->pieces());
  return more;
}

// False when the socket takes no more for now, or is gone.
bool Stream::write_pending(Instant time) {
  const bool from_tail = tail_sent_ < tail_.size();
  const Bytes tail = Bytes(tail_).subspan(tail_sent_);
  const auto io = socket_.write(from_tail ? std::span(&tail, 1) : batch_->pieces());
  if (io.status == transport::IoResult::Status::kMoved) {
    if (from_tail) tail_sent_ += io.octets;
    if (!from_tail) batch_->consume(io.octets);
    if (tail_sent_ == tail_.size()) tail_ = {}, tail_sent_ = 0;
    engine_.written(io.octets, time);
    if (!output_pending()) return true;
  }
  if (io.status == transport::IoResult::Status::kLost) {
    if (narrator_) narrator_->lost(io.error);
    if (!std::exchange(inbound_over_, true)) engine_.connection_lost(time);
  }
  blocked_ = true;
  keep_own_copy();
  return false;
}

// Octets borrowed from user memory do not wait for the socket: revoking memory must not wait for a peer.
void Stream::keep_own_copy() {
  if (!memory_.lends() || !batch_ || batch_->empty()) return;
  for (const Bytes piece : batch_->pieces()) tail_.insert(tail_.end(), piece.begin(), piece.end());
  batch_->consume(batch_->size());
}

}  // namespace weft::verbs::detail
