// SPDX-License-Identifier: Apache-2.0
// Octets between the socket and the engine: many FPDUs a read, many a write, buffers held only while octets move.
#include <algorithm>
#include <cstring>
#include <utility>

#include "verbs/detail/copy.hpp"
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
// system call. True when something came.
bool Stream::look_locked() {
  if (finished_) return false;
  const bool came = receive_some();
  if (!came && !blocked_ && !output_left_) return park_buffers(), false;
  blocked_ = false;
  send_some();
  settle();
  return came;
}

// --- Inbound. Receiving never waits for sending: two peers that write at each other both go on reading.

// False when nothing came. A turn that ends early leaves octets in the socket alone, which stays readable for whoever
// asks next, all of whom ask by level: what was read has been shown to the engine, and it took all that was complete,
// or waits for a receive and says so (stalled_). So no wake-up is owed to anybody.
bool Stream::receive_some() {
  Read last = Read::kNothing;
  for (Turn turn; !turn.over() && !stalled_ && !inbound_over_;) {
    const Read before = std::exchange(last, read_once(turn));
    if (last == Read::kNothing) return before != Read::kNothing;
    if (last == Read::kAll) return true;
  }
  return last != Read::kNothing;
}

// Counts in `turn` what came.
Stream::Read Stream::read_once(Turn& turn) {
  const auto room = staging_octets().subspan(staged_);
  if (room.empty()) return Read::kNothing;
  const auto landing = find_landing();
  const bool lands = !landing.memory.empty();
  const auto into =
      lands ? room.subspan(landing.memory.size()).first(landing.behind + kNextHeader) : room_to_read(room);
  const auto io = lands ? socket_.read(landing.memory, into) : socket_.read(into);
  if (io.status == transport::IoResult::Status::kWouldBlock) return Read::kNothing;
  if (io.status != transport::IoResult::Status::kMoved) return end_inbound(io), Read::kAll;
  ++reads_;
  turn.octets += io.octets;
  if (lands) {
    turn.frames += land(landing, io.octets);
  } else {
    if (narrator_) narrator_->received(room.first(io.octets));
    if (tap_) tap_->arrived(room.first(io.octets));
    staged_ += io.octets;
    const std::uint32_t frames = present();
    turn.frames += frames;
    learn(io.octets, frames);
  }
  return io.octets == landing.memory.size() + into.size() ? Read::kSome : Read::kAll;
}

// Behind a payload that landed only the frame under way, so that what follows can land as well.
MutableBytes Stream::room_to_read(MutableBytes room) noexcept {
  const std::size_t frame = missing_ + kNextHeader;
  const std::size_t most = std::exchange(landed_, false) ? frame : std::max<std::size_t>(frame, most_of_read_);
  return room.first(std::min(room.size(), most));
}

// All that one read brings is looked at, so where the last one brought many small FPDUs the next one takes fewer
// octets: no more of such FPDUs than a turn may have. It grows step by step, with reads that bring all they may and few
// FPDUs: for a burst of small ones a peer has to send half a megabyte of others before.
void Stream::learn(std::size_t octets, std::uint32_t frames) noexcept {
  constexpr std::uint32_t kMany = 64;
  constexpr std::size_t kLeast = 4096;
  if (frames <= kMany && octets < most_of_read_) return;
  std::size_t wanted = 2 * std::size_t{most_of_read_};
  if (frames > kMany) wanted = std::min(wanted, octets * kMostFrames / frames);
  most_of_read_ = static_cast<std::uint32_t>(std::clamp(wanted, kLeast, Staging::kOctets));
}

void Stream::end_inbound(const transport::IoResult& io) {
  inbound_over_ = true;
  if (tap_) tap_->rest();
  if (io.status == transport::IoResult::Status::kEndOfStream) {
    if (tap_) tap_->fin_received();
    if (narrator_) narrator_->say("FIN received");
    engine_.end_of_stream(now());
  } else {
    if (tap_) tap_->rst_received();
    if (narrator_) narrator_->lost(io.error.message());
    engine_.connection_lost(now());
  }
  pump();
}

// Who looks at the octets as they come sees all of them in the staging buffer.
engine::Landing Stream::find_landing() {
  if (staged_ == 0 || tap_ || narrator_) return {};
  return engine_.landing(staging_->octets().first(staged_));
}

// So many octets of a payload, and of what follows, were read straight to their place. A frame that is not all there
// waits in the staging buffer like any other: whose that memory is when the lock is free, nobody knows.
std::uint32_t Stream::land(const engine::Landing& landing, std::size_t octets) {
  std::byte* const room = staging_->octets().subspan(staged_).data();
  const std::size_t at = std::exchange(staged_, staged_ + octets);
  if (octets < landing.memory.size() + landing.behind) {
    copy_octets(room, landing.memory.data(), std::min(octets, landing.memory.size()));
    return 0;
  }
  memory_.has_landed(room, landing.memory.size());
  const std::uint32_t frames = present({at, landing.memory});
  memory_.has_landed(nullptr, 0);
  landed_ = true;
  return frames;
}

// Shows the engine what is staged and keeps what it does not take yet: the frames that it took.
std::uint32_t Stream::present(const mpa::Landed& landed) {
  const auto octets = staging_octets().first(staged_);
  std::size_t taken = 0;
  std::uint32_t frames = 0;
  for (bool more = true; more;) {
    const auto result = engine_.receive(octets.subspan(taken), time(), taken == 0 ? landed : mpa::Landed{});
    taken += result.consumed;
    frames += result.frames;
    if (tap_) tap_->understood(result.consumed);
    const bool heard = pump();
    more = result.want == engine::ReceiveResult::Want::kPollEvents && (heard || result.consumed != 0);
    stalled_ = result.want == engine::ReceiveResult::Want::kReceive;
    missing_ = result.missing;
    if (result.want == engine::ReceiveResult::Want::kNothing) {
      if (tap_) tap_->rest();
      taken = staged_;
    }
  }
  staged_ -= taken;
  if (taken != 0 && staged_ != 0) std::memmove(octets.data(), octets.data() + taken, staged_);
  return frames;
}

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
  return watch_.is_polled_among_few() && runtime_.buffers().may_keep_staging();
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

bool Stream::has_output() const noexcept { return output_pending() || engine_.has_output(); }

void Stream::send_some(int most_batches) {
  if (blocked_ || finished_ || !has_output()) return;
  const Instant at = time();
  bool more = true;
  for (int batches = 0; more && batches < most_batches; ++batches) {
    if (!output_pending()) more = fill_batch(at);
    if (!output_pending() || !write_pending(at)) break;
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
bool Stream::fill_batch(Instant at) {
  if (emss_read_at_ + kEmssRefresh < at) {
    if (const auto emss = socket_.emss(); emss != 0) engine_.set_emss(emss);
    emss_read_at_ = at;
  }
  if (!batch_) lease_batch();
  const bool more = engine_.fill(*batch_, at);
  if (tap_ && !batch_->empty()) tap_->sent(batch_->pieces());
  if (narrator_ && !batch_->empty()) narrator_->sent(batch_->pieces());
  return more;
}

// False when the socket takes no more for now, or is gone.
bool Stream::write_pending(Instant at) {
  const bool from_tail = tail_sent_ < tail_.size();
  const Bytes tail = Bytes(tail_).subspan(tail_sent_);
  const auto io = socket_.write(from_tail ? std::span(&tail, 1) : batch_->pieces());
  if (io.status == transport::IoResult::Status::kMoved) {
    if (from_tail) tail_sent_ += io.octets;
    if (!from_tail) batch_->consume(io.octets);
    if (tail_sent_ == tail_.size()) tail_ = {}, tail_sent_ = 0;
    engine_.written(io.octets, at);
    if (!output_pending()) return true;
  }
  if (io.status == transport::IoResult::Status::kLost) {
    if (narrator_) narrator_->lost(io.error.message());
    if (!std::exchange(inbound_over_, true)) engine_.connection_lost(at);
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
