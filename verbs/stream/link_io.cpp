// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/link_io.hpp"

#include <algorithm>
#include <utility>

namespace weft::verbs::detail {

// --- Inbound. Receiving never waits for sending: two peers that write at each other both go on reading.

// False when nothing came. A turn that ends early leaves octets in the socket alone, which stays readable for the
// driver that asks next, and all ask by level: what was read has been shown to the engine, and it took all that was
// complete, or waits for a receive and says so (Inbox::stalled). So no driver is owed a wake-up. What the pipe holds no
// socket shows: it is read in this turn.
bool LinkIo::receive() {
  Read last = Read::kNothing;
  for (Turn turn; !turn.over() && link_.inbox().reads();) {
    const Read before = std::exchange(last, read_once(turn));
    if (last == Read::kNothing) return before != Read::kNothing;
    if (last == Read::kAll) return true;
  }
  if (pipe_.holds()) read_held();
  return last != Read::kNothing;
}

// No more than a pipe holds, for the socket is left alone.
void LinkIo::read_held() {
  const transport::Pipe::Inside inside(pipe_);
  Turn turn;
  while (pipe_.holds() && link_.inbox().reads()) {
    if (read_once(turn) == Read::kNothing) return;
  }
}

// A peer that sends a part of a record keeps this end waiting as with a part of an FPDU: the same clock runs. It is the
// program's turn while a Send waits for a receive.
void LinkIo::watch_part() {
  const bool part = waits_for_part();
  if (part || link_.inbox().part) link_.holds_part(part, time());
}

// Counts in `turn` what came.
LinkIo::Read LinkIo::read_once(Turn& turn) {
  const auto room = link_.room();
  if (room.size() == 0) return Read::kNothing;
  if (room.unplaced != 0) {
    if (const Bytes rest = pipe_.lend(room.unplaced + room.behind); !rest.empty()) return show(turn, room, rest);
  }
  const auto io = room.landing.empty() ? pipe_.read(room.staging) : pipe_.read(room.landing, room.staging);
  if (io.status != transport::IoResult::Status::kMoved) return take_no_octets(io);
  turn.octets += io.octets;
  turn.frames += link_.arrived(room, io.octets, time());
  return io.octets == room.size() || pipe_.holds() ? Read::kSome : Read::kAll;
}

LinkIo::Read LinkIo::show(Turn& turn, const Link::Room& room, Bytes rest) {
  turn.octets += rest.size();
  turn.frames += link_.show(room, rest, time());
  pipe_.take_back(rest.size());
  return Read::kSome;
}

LinkIo::Read LinkIo::take_no_octets(const transport::IoResult& io) {
  switch (io.status) {
    case transport::IoResult::Status::kMoved:
    case transport::IoResult::Status::kWouldBlock: return Read::kNothing;
    case transport::IoResult::Status::kSecured:  // the engine's octets may go from here on
      if (const auto peer = link_.witness().sees_octets() ? pipe_.identity() : std::nullopt) link_.witness().on(*peer);
      return Read::kSome;
    case transport::IoResult::Status::kEndOfStream: return link_.end_of_stream(now()), Read::kAll;
    case transport::IoResult::Status::kLost: return link_.lost(io.error, now()), Read::kAll;
  }
  return Read::kNothing;
}

// No thread drives it any more: what the socket takes at once it gets. And octets that were left unread would have the
// kernel answer with a reset, which drops what the peer has not got yet.
void LinkIo::last_octets() {
  link_.outbox().blocked = false;
  send();
  const MutableBytes room = link_.discard();
  for (std::size_t octets = 0; octets < Inbox::kMostRead && !link_.inbox().is_over();) {
    const auto io = pipe_.read(room);
    if (io.status != transport::IoResult::Status::kMoved) return;
    octets += io.octets;
  }
}

// --- Outbound

// Until TLS's handshake is over the engine's octets wait: room in the socket would not let them go.
bool LinkIo::has_output() const noexcept { return pipe_.has_output() || (link_.has_output() && pipe_.takes_octets()); }

void LinkIo::send(int most_batches) {
  auto& outbox = link_.outbox();
  if (outbox.blocked || link_.life().finished() || !has_output()) return;
  const Instant at = time();
  bool more = !pipe_.has_output() || flush_pipe(at);
  for (int batches = 0; more && pipe_.takes_octets() && batches < most_batches; ++batches) {
    if (!outbox.pending()) {
      refresh_emss(at);
      more = link_.fill(pipe_.room_in_place(), at);
    }
    if (!outbox.pending() || !write_pending(at)) break;
  }
  link_.pump(at);
}

void LinkIo::refresh_emss(Instant at) {
  if (emss_read_at_ + kEmssRefresh >= at) return;
  emss_read_at_ = at;
  if (const auto emss = pipe_.socket().emss(); emss != 0) link_.set_emss(emss);
}

// False when the socket takes no more for now, or is gone.
bool LinkIo::write_pending(Instant at) {
  Bytes tail;
  const auto io = pipe_.write(link_.outbox().pieces(tail));
  if (io.status == transport::IoResult::Status::kMoved) {
    link_.written(io.octets, at);
    if (!link_.outbox().pending()) return true;
  }
  return stop_writing(io, at);
}

// What TLS has to write by itself. False as above.
bool LinkIo::flush_pipe(Instant at) {
  const auto io = pipe_.flush();
  return io.status == transport::IoResult::Status::kMoved || stop_writing(io, at);
}

bool LinkIo::stop_writing(const transport::IoResult& io, Instant at) {
  link_.stop_writing(io.status == transport::IoResult::Status::kLost ? std::optional(io.error) : std::nullopt, at);
  return false;
}

}  // namespace weft::verbs::detail
