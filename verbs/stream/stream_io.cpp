// SPDX-License-Identifier: Apache-2.0
// Octets between the socket and the engine: many FPDUs a read, many a write, buffers held only while octets move.
#include <algorithm>
#include <utility>

#include "verbs/log/log.hpp"
#include "verbs/memory/copy.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

void Stream::drive_locked() {
  if (life_.finished) return;
  outbox_.blocked = false;  // ask the socket again
  receive_some();
  send_some();
  settle();
}

// The same where nothing has changed but perhaps the socket: a look at it that finds nothing costs little more than the
// system call. True when something came.
bool Stream::look_locked() {
  if (life_.finished) return false;
  const bool came = receive_some();
  const bool part_told = waits_for_part() == inbox_.part;
  if (!came && !outbox_.blocked && !outbox_.left && !pipe_.has_output() && part_told) return park_buffers(), false;
  outbox_.blocked = false;
  send_some();
  settle();
  return came;
}

// --- Inbound. Receiving never waits for sending: two peers that write at each other both go on reading.

// False when nothing came. A turn that ends early leaves octets in the socket alone, which stays readable for the
// driver that asks next, and all ask by level: what was read has been shown to the engine, and it took all that was
// complete, or waits for a receive and says so (inbox_.stalled). So no driver is owed a wake-up. What the pipe holds no
// socket shows: it is read in this turn.
bool Stream::receive_some() {
  Read last = Read::kNothing;
  for (Turn turn; !turn.over() && !inbox_.stalled && !inbox_.over;) {
    const Read before = std::exchange(last, read_once(turn));
    if (last == Read::kNothing) return before != Read::kNothing;
    if (last == Read::kAll) return true;
  }
  if (pipe_.holds()) read_held();
  return last != Read::kNothing;
}

// No more than a pipe holds, for the socket is left alone.
void Stream::read_held() {
  const transport::Pipe::Inside inside(pipe_);
  Turn turn;
  while (pipe_.holds() && inbox_.reads()) {
    if (read_once(turn) == Read::kNothing) return;
  }
}

// A peer that sends a part of a record keeps this end waiting as with a part of an FPDU: the same clock runs. It is the
// program's turn while a Send waits for a receive.
void Stream::watch_part() {
  const bool part = waits_for_part();
  if (!part && !inbox_.part) return;
  inbox_.part = part;
  engine_.holds_part(part, time());
}

// Counts in `turn` what came.
Stream::Read Stream::read_once(Turn& turn) {
  inbox_.open(runtime_.buffers());
  const auto room = inbox_.room();
  if (room.empty()) return Read::kNothing;
  const auto landing = find_landing();
  const bool lands = !landing.memory.empty();
  const auto into =
      lands ? room.subspan(landing.memory.size()).first(landing.behind + Inbox::kNextHeader) : inbox_.room_to_read();
  const auto io = lands ? pipe_.read(landing.memory, into) : pipe_.read(into);
  if (io.status != transport::IoResult::Status::kMoved) return take_no_octets(io);
  ++inbox_.reads_so_far;
  turn.octets += io.octets;
  if (lands) {
    turn.frames += land(landing, io.octets);
  } else {
    witness_->received(room.first(io.octets));
    inbox_.add(io.octets);
    const std::uint32_t frames = present();
    turn.frames += frames;
    inbox_.learn(io.octets, frames);
  }
  return io.octets == landing.memory.size() + into.size() || pipe_.holds() ? Read::kSome : Read::kAll;
}

Stream::Read Stream::take_no_octets(const transport::IoResult& io) {
  switch (io.status) {
    case transport::IoResult::Status::kMoved:
    case transport::IoResult::Status::kWouldBlock: return Read::kNothing;
    case transport::IoResult::Status::kSecured: return secured(), Read::kSome;
    case transport::IoResult::Status::kEndOfStream:
    case transport::IoResult::Status::kLost: break;
  }
  return end_inbound(io), Read::kAll;
}

// The engine's octets may go from here on.
void Stream::secured() {
  if (const auto peer = pipe_.identity()) witness_->on(*peer);
}

void Stream::end_inbound(const transport::IoResult& io) {
  inbox_.over = true;
  witness_->rest_understood();
  if (io.status == transport::IoResult::Status::kEndOfStream) {
    witness_->fin_received();
    engine_.end_of_stream(now());
  } else {
    witness_->rst_received();
    witness_->lost(io.error.message());
    if (life_.is_established() && pipe_.failure()) log_lost(subject(), io.error);
    end_by_loss(io.error);
    engine_.connection_lost(now());
  }
  pump();
}

void Stream::end_by_loss(const std::error_code& error) {
  const int os_error = error.category() == std::system_category() ? error.value() : 0;
  end_by(Errc::kDisconnected, os_error != 0 ? "the TCP connection was lost" : "TLS ended the connection", os_error);
}

engine::Landing Stream::find_landing() {
  if (inbox_.empty() || witness_->sees_octets()) return {};
  return engine_.landing(inbox_.staged());
}

// `octets` octets of a payload, and of what follows, were read straight to their place. A frame that is not all there
// waits in the staging buffer like any other: once the lock is free, the memory may be deregistered.
std::uint32_t Stream::land(const engine::Landing& landing, std::size_t octets) {
  std::byte* const room = inbox_.room().data();
  const std::size_t at = inbox_.staged().size();
  inbox_.add(octets);
  if (octets < landing.memory.size() + landing.behind) {
    copy_octets(room, landing.memory.data(), std::min(octets, landing.memory.size()));
    return 0;
  }
  memory_.has_landed(room, landing.memory.size());
  const std::uint32_t frames = present({at, landing.memory});
  memory_.has_landed(nullptr, 0);
  inbox_.has_landed();
  return frames;
}

// Shows the engine what is staged and keeps what it does not take yet: the frames that it took.
std::uint32_t Stream::present(const mpa::Landed& landed) {
  inbox_.open(runtime_.buffers());
  const auto octets = inbox_.staged();
  std::size_t taken = 0;
  std::uint32_t frames = 0;
  for (bool more = true; more;) {
    const auto result = engine_.receive(octets.subspan(taken), time(), taken == 0 ? landed : mpa::Landed{});
    taken += result.consumed;
    frames += result.frames;
    witness_->understood(result.consumed);
    const bool heard = pump();
    more = result.want == engine::ReceiveResult::Want::kPollEvents && (heard || result.consumed != 0);
    inbox_.stalled = result.want == engine::ReceiveResult::Want::kReceive;
    inbox_.misses(result.missing);
    if (result.want == engine::ReceiveResult::Want::kNothing) {
      witness_->rest_understood();
      taken = octets.size();
    }
  }
  inbox_.take(taken);
  return frames;
}

// The few connections of a queue that is polled all the time keep their buffers meanwhile; of many such queues, some.
bool Stream::keeps_buffers() const noexcept {
  return watch_.is_polled_among_few() && runtime_.buffers().may_keep_staging();
}

// An idle connection holds no buffers otherwise.
void Stream::park_buffers() {
  if (!inbox_.stalled && keeps_buffers()) return;
  outbox_.park(runtime_.buffers());
  inbox_.park(runtime_.buffers());
}

// --- Outbound

// Until TLS's handshake is over the engine's octets wait: room in the socket would not let them go.
bool Stream::has_output() const noexcept {
  return outbox_.pending() || engine_.has_output() ? pipe_.takes_octets() || pipe_.has_output() : pipe_.has_output();
}

void Stream::send_some(int most_batches) {
  if (outbox_.blocked || life_.finished || !has_output()) return;
  const Instant at = time();
  bool more = !pipe_.has_output() || flush_pipe(at);
  for (int batches = 0; more && pipe_.takes_octets() && batches < most_batches; ++batches) {
    if (!outbox_.pending()) more = fill_batch(at);
    if (!outbox_.pending() || !write_pending(at)) break;
  }
  pump();
}

// True when there is more than one batch takes.
bool Stream::fill_batch(Instant at) {
  if (outbox_.emss_read_at + kEmssRefresh < at) {
    if (const auto emss = pipe_.socket().emss(); emss != 0) engine_.set_emss(emss);
    outbox_.emss_read_at = at;
  }
  auto& batch = outbox_.open(runtime_.buffers());
  const bool more = engine_.fill(batch, at);
  if (!batch.empty()) witness_->sent(batch.pieces());
  return more;
}

// False when the socket takes no more for now, or is gone.
bool Stream::write_pending(Instant at) {
  const auto io = outbox_.write(pipe_);
  if (io.status == transport::IoResult::Status::kMoved) {
    engine_.written(io.octets, at);
    if (!outbox_.pending()) return true;
  }
  return stop_writing(io, at);
}

// What TLS has to write by itself. False as above.
bool Stream::flush_pipe(Instant at) {
  const auto io = pipe_.flush();
  return io.status == transport::IoResult::Status::kMoved || stop_writing(io, at);
}

bool Stream::stop_writing(const transport::IoResult& io, Instant at) {
  if (io.status == transport::IoResult::Status::kLost) {
    witness_->lost(io.error.message());
    end_by_loss(io.error);
    if (!std::exchange(inbox_.over, true)) engine_.connection_lost(at);
  }
  outbox_.blocked = true;
  if (memory_.lends()) outbox_.copy_borrowed();
  return false;
}

}  // namespace weft::verbs::detail
