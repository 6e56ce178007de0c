// SPDX-License-Identifier: Apache-2.0
// Octets between a link's owner and its engine: many FPDUs at a time, buffers held only while octets move.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "verbs/memory/copy.hpp"
#include "verbs/stream/link.hpp"

namespace weft::verbs::detail {

// --- Inbound

Link::Room Link::room() {
  inbox_.open(buffers_);
  const auto room = inbox_.room();
  if (room.empty()) return {};
  const auto landing = inbox_.empty() || witness_->sees_octets() ? engine::Landing{} : engine_.landing(inbox_.staged());
  if (landing.memory.empty()) {
    return {.behind = landing.behind, .unplaced = landing.unplaced, .staging = inbox_.room_to_read()};
  }
  return {.landing = landing.memory,
          .behind = landing.behind,
          .staging = room.subspan(landing.memory.size()).first(landing.behind + Inbox::kNextHeader)};
}

std::uint32_t Link::arrived(const Room& room, std::size_t octets, Instant now) {
  ++inbox_.reads_so_far;
  if (!room.landing.empty()) return land(room, octets, now);
  witness_->received(room.staging.first(octets));
  inbox_.add(octets);
  const std::uint32_t frames = present({}, now);
  inbox_.learn(octets, frames);
  return frames;
}

// `octets` octets of a payload, and of what follows, were read straight to their place. A frame that is not all there
// waits in the staging buffer like any other: once the owner's lock is free, the memory may be deregistered.
std::uint32_t Link::land(const Room& room, std::size_t octets, Instant now) {
  std::byte* const staging = inbox_.room().data();
  const std::size_t at = inbox_.staged().size();
  inbox_.add(octets);
  if (octets < room.landing.size() + room.behind) {
    copy_octets(staging, room.landing.data(), std::min(octets, room.landing.size()));
    return 0;
  }
  return present_apart(at, room.landing, nullptr, now);
}

// The rest of a frame whose payload has no place before it is verified: it stays where it is until the engine has
// looked at it. What follows the payload is staged, like the header, and nothing there is read twice.
std::uint32_t Link::show(const Room& room, Bytes rest, Instant now) {
  ++inbox_.reads_so_far;
  const std::size_t at = inbox_.staged().size();
  copy_octets(inbox_.room().data() + room.unplaced, rest.data() + room.unplaced, room.behind);
  inbox_.add(rest.size());
  return present_apart(at, rest.first(room.unplaced), rest.data(), now);
}

// Shows the engine what is staged, in which there is only room for `octets` from `at` on: they are in their place, or
// at `source`.
std::uint32_t Link::present_apart(std::size_t at, Bytes octets, const std::byte* source, Instant now) {
  memory_.has_landed(inbox_.staged().data() + at, octets.size(), source);
  const std::uint32_t frames = present({at, octets}, now);
  memory_.has_landed(nullptr, 0);
  inbox_.has_landed();
  return frames;
}

// Shows the engine what is staged and keeps what it does not take yet: the frames that it took.
std::uint32_t Link::present(const mpa::Landed& landed, Instant now) {
  inbox_.open(buffers_);
  const auto octets = inbox_.staged();
  std::size_t taken = 0;
  std::uint32_t frames = 0;
  for (bool more = true; more;) {
    const auto result = engine_.receive(octets.subspan(taken), now, taken == 0 ? landed : mpa::Landed{});
    taken += result.consumed;
    frames += result.frames;
    witness_->understood(result.consumed);
    const bool heard = pump(now);
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

void Link::stop_waiting(Instant now) {
  if (std::exchange(inbox_.stalled, false)) present({}, now);
}

void Link::holds_part(bool part, Instant now) {
  inbox_.part = part;
  engine_.holds_part(part, now);
}

void Link::end_of_stream(Instant now) {
  inbox_.end();
  witness_->rest_understood();
  witness_->fin_received();
  engine_.end_of_stream(now);
  pump(now);
}

void Link::lost(const std::error_code& error, Instant now) {
  inbox_.end();
  witness_->rest_understood();
  witness_->rst_received();
  witness_->lost(error.message());
  if (life_.is_established() && host_.failure().tls) log_lost(subject(), error);
  end_by_loss(error);
  engine_.connection_lost(now);
  pump(now);
}

namespace {

const char* reason_of_loss(int os_error) {
  if (os_error == 0) return "TLS ended the connection";
  return os_error == ECONNRESET ? "the peer reset the connection" : "the TCP connection was lost";
}

}  // namespace

void Link::end_by_loss(const std::error_code& error) {
  if (!engine_.inside_message()) try_without_peer();
  const bool is_errno = error.category() == std::system_category() || error.category() == std::generic_category();
  const int os_error = is_errno ? error.value() : 0;
  end_by(Errc::kDisconnected, reason_of_loss(os_error), os_error);
}

// What the peer sent before its FIN can still be received, for as long as the timeout for a missing receive allows. But
// both users hear of the end now, ours by its event and the peer's by our FIN (RDMAP-6.2-02).
void Link::end_after_stall(Instant now) {
  inbox_.see_fin();
  witness_->say("FIN received after a Send that waits for a receive");
  end_by(Errc::kDisconnected, "the peer closed the connection");
  close(now);
  pump(now);
}

MutableBytes Link::discard() {
  inbox_.open(buffers_);
  inbox_.clear();
  return inbox_.room();
}

// --- Outbound

bool Link::fill(MutableBytes in_place, Instant now) {
  auto& batch = outbox_.open(buffers_);
  // What looks on parses what was sent, and only private memory stays as it is meanwhile.
  batch.fill_in_place(witness_->sees_octets() ? MutableBytes() : in_place);
  const bool more = engine_.fill(batch, now);
  if (!batch.empty()) witness_->sent(batch.pieces());
  return more;
}

void Link::written(std::size_t octets, Instant now) {
  outbox_.consume(octets);
  engine_.written(octets, now);
}

void Link::stop_writing(const std::optional<std::error_code>& lost, Instant now) {
  if (lost) {
    witness_->lost(lost->message());
    end_by_loss(*lost);
    inbox_.end();
    engine_.connection_lost(now);  // even if the peer's end was read: nothing can be sent any more
  }
  outbox_.blocked = true;
  if (memory_.lends()) outbox_.copy_borrowed();
}

void Link::park(bool keep_buffers) {
  if (!inbox_.stalled && keep_buffers) return;
  outbox_.park(buffers_);
  inbox_.park(buffers_);
}

}  // namespace weft::verbs::detail
