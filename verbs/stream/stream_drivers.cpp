// SPDX-License-Identifier: Apache-2.0
// Who drives a connection, and what every one of them does before the lock is given up: the end included.
#include <fcntl.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "verbs/progress/tuning.hpp"
#include "verbs/stream/stall_watch.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

// --- Drivers

bool Stream::drive(bool hangup) {
  const std::lock_guard lock(mutex_);
  const bool established = life_.is_established();
  const bool came = look_locked();
  if (hangup) look_for_the_end();
  return came && established && !inbox_.over;
}

// A stream that waits for a receive, perhaps since just now, does not read, and would not notice that its peer has
// gone.
void Stream::look_for_the_end() {
  if (!inbox_.stalled || life_.finished || inbox_.over) return;
  if (pipe_.socket().pending_error()) {
    inbox_.over = true;
    witness_->say("TCP connection lost while it waited for a receive");
    witness_->rest_understood();
    witness_->rst_received();
    end_by(Errc::kDisconnected, "the TCP connection was lost");
    engine_.connection_lost(now());
    pump();
    return settle();
  }
  if (!inbox_.fin_waits && pipe_.socket().peer_has_closed()) peer_closed_behind_stall();
}

// What is posted goes out first.
void Stream::close() {
  life_.reach(Stage::kClosing);
  engine_.close(now());
}

// What the peer sent before its FIN can still be received, for as long as the timeout for a missing receive allows. But both users
// hear of the end now, ours by its event and the peer's by our FIN (RDMAP-6.2-02).
void Stream::peer_closed_behind_stall() {
  inbox_.fin_waits = true;
  witness_->say("FIN received after a Send that waits for a receive");
  end_by(Errc::kDisconnected, "the peer closed the connection");
  close();
  pump();
  send_some();
  if (observer_) observer_->on_peer_closed();
  settle();
}

// A number that changes with each octet that the peer sends or acknowledges.
std::uint64_t Stream::moved() const noexcept {
  return inbox_.octets_so_far() + outbox_.octets_so_far() - pipe_.socket().unacknowledged();
}

// The user has asked for the end, and posts no receive any more: what arrives from here on is discarded. So the peer,
// which may have to write all of it before its own FIN, is not waited for in vain, nor waits itself (RDMAP-6.2-02).
void Stream::leave_peer() {
  life_.reach(Stage::kClosing);
  engine_.leave(now());
  pump();
  if (std::exchange(inbox_.stalled, false)) present();  // drops what is staged
  send_some();
}

bool Stream::farewell_is_due() const { return life_.farewell && life_.farewell->look_at <= now(); }

// Work that does not advance any more is flushed, as adapters do with all work. Octets that the socket took remain the
// kernel's to deliver, unless there is unfinished work after them. The user hears of the end now, whatever the peer
// does.
void Stream::look_at_farewell() {
  auto& farewell = life_.farewell;
  if (!farewell_is_due()) return;
  farewell->look_at = now() + patience_.disconnect;
  if (const auto so_far = moved(); so_far != std::exchange(farewell->moved, so_far)) return;
  if (!farewell->left && (sends_.slots.empty() || inbox_.stalled)) {
    farewell->left = true;
    leave_peer();
  } else if (!sends_.slots.empty()) {
    witness_->say("aborted: the peer takes nothing, and disconnect was asked for");
    engine_.abort(now());
    pump();
  }
  if (!sends_.slots.empty()) return;
  farewell.reset();
  tell_failure();
  if (observer_) observer_->on_peer_closed();
}

void Stream::drive_if_free(Poller& by) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || life_.finished) return;
  if (watch_.driven_by(by)) settle_watch();
  look_locked();
}

bool Stream::is_due() const {
  const auto deadline = engine_.next_deadline();
  return deadline && *deadline <= now();
}

void Stream::deadline_passed() {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return;
  wake_up_.reset();
  if (is_due() || farewell_is_due()) {  // what came, or had room, while this process stood still counts
    outbox_.blocked = false;
    receive_some();
    send_some();
    watch_part();
  }
  if (is_due()) {
    engine_.deadline_passed(now());
    pump();
    if (std::exchange(inbox_.stalled, false))
      present();  // if it gave up waiting for a receive, the peer's FIN is to be read
    send_some();
  }
  look_at_farewell();
  settle();
}

// What the peer is told is a reset. The application hears of it unless there is no memory for that either.
void Stream::run_out_of_memory() noexcept {
  try {
    abort();
    log_warning("connection with " + peer_.to_string(), "ended for want of memory");
  } catch (const std::bad_alloc&) {  // the engine cannot tell its end
  }
  give_up_at_once();
}

void Stream::give_up_at_once() noexcept {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return;
  try {
    life_.reach(Stage::kClosed);
    if (qp_) qp_->fall();
    finish(true);
  } catch (const std::bad_alloc&) {
    life_.finished = true;
    watch_.end();
    pipe_.reset();
    runtime_.forget(number());
  }
}

void Stream::receives_available() {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return;
  if (std::exchange(inbox_.stalled, false)) present();
  drive_locked();
}

void Stream::waited_for_by(Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (!life_.finished && watch_.waited_for_by(waiter)) settle_watch();
}

void Stream::is_over(const Driver& owner) {
  const std::lock_guard lock(mutex_);
  if (life_.finished || !watch_.is_over(owner)) return;
  settle_watch();
  park_buffers();
}

// Not when its lock is taken: a thread is at it.
std::optional<std::uint64_t> Stream::moved_if_unserved() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || life_.finished) return std::nullopt;
  const bool hidden = inbox_.reads() && pipe_.holds();  // no thread that sleeps would wake for it
  if (!hidden && (watch_.is_served(wanted(), runtime_.progress_threads().has_proxy()) ||
                  !pipe_.socket().is_ready(wanted().read, wanted().write)))
    return std::nullopt;
  return inbox_.reads_so_far + outbox_.octets_so_far();
}

// The child alone runs, and in this thread alone: no lock is needed, nor could it be had.
void Stream::leave_to_parent(int nowhere) noexcept {
  life_.reach(Stage::kClosed);
  life_.finished = true;
  const auto& socket = pipe_.socket();
  if (socket.is_open() && nowhere >= 0) ::dup3(nowhere, socket.descriptor(), O_CLOEXEC);
}

void Stream::abandon() {
  const std::lock_guard lock(mutex_);
  if (!life_.finished) {
    witness_->closed("as the process is done with it");
    last_octets();
    finish(engine_.disposition() == engine::Disposition::kReset);
  }
  observer_.reset();
}

// As if its time were over.
void Stream::end_waiting() {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return;
  last_octets();
  if (const auto deadline = engine_.next_deadline()) engine_.deadline_passed(*deadline);
  pump();
  settle();
}

// No thread drives it any more: what the socket takes at once it gets. And octets that were left unread would have the
// kernel answer with a reset, which drops what the peer has not got yet.
void Stream::last_octets() {
  outbox_.blocked = false;
  send_some();
  inbox_.open(runtime_.buffers());
  inbox_.clear();
  for (std::size_t octets = 0; octets < Inbox::kMostRead && !inbox_.over;) {
    const auto io = pipe_.read(inbox_.room());
    if (io.status != transport::IoResult::Status::kMoved) return;
    octets += io.octets;
  }
}

// --- Before the lock is given up

void Stream::settle() {
  if (life_.finished) return;
  if (life_.fails() && std::exchange(inbox_.stalled, false))
    present();  // no receive is waited for any more: on to the FIN
  if (life_.asked && inbox_.stalled && sends_.slots.empty() && !has_output()) leave_peer();
  if (pipe_.holds()) read_held();
  watch_part();
  memory_.drop_leases();
  outbox_.left = has_output();
  if (life_.is_closed() || !outbox_.left) follow_disposition();
  if (life_.finished) return;
  park_buffers();
  settle_watch();
  if (auto* const stalls = witness_->stalls()) watch_stalls(*stalls);
  schedule();
}

void Stream::follow_disposition() {
  switch (engine_.disposition()) {
    case engine::Disposition::kOpen: return;
    case engine::Disposition::kShutdownWrite:
      if (std::exchange(life_.fin_sent, true)) return;
      witness_->fin_sent();
      pipe_.shutdown_write();
      outbox_.left = has_output();  // TLS's close_notify, where the socket did not take it
      return;
    case engine::Disposition::kReset: return finish(true);
    case engine::Disposition::kClose: return finish(is_shut_out());
  }
}

// Without memory it is tried again: perhaps nothing else would come by.
void Stream::settle_watch() {
  if (!watch_.settle(wanted(), inbox_.stalled)) wake_at(now() + tuning::kWatchRetry);
}

void Stream::schedule() {
  if (const auto deadline = engine_.next_deadline()) wake_at(*deadline);
  if (life_.farewell) wake_at(life_.farewell->look_at);
  const auto* const stalls = witness_->stalls();
  if (const auto look = stalls != nullptr ? stalls->deadline() : std::nullopt) wake_at(*look);
}

void Stream::wake_at(Instant at) {
  if (wake_up_ && *wake_up_ <= at) return;
  wake_up_ = at;
  runtime_.wake_at(number(), at);
}

// A peer that lets nothing in any more when our patience is over would never hear of the end: its program waits for a FIN
// that follows what it does not take. So it gets a reset, and the kernel keeps nothing for it. A process that ends
// has no patience to be over: it leaves the octets to the kernel.
bool Stream::is_shut_out() const { return !inbox_.over && pipe_.socket().peer_takes_nothing(); }

void Stream::finish(bool reset) {
  life_.finished = true;
  memory_.drop_leases();
  outbox_.close(runtime_.buffers());
  inbox_.close(runtime_.buffers());
  release_locked();
  watch_.end();
  witness_->rest_understood();
  if (reset) {
    witness_->finished(true);
    pipe_.reset();
  } else {
    pipe_.close();  // a close_notify, and what a capture of the wire shows of it, come before the FIN
    witness_->finished(false);
  }
  if (life_.orphaned) runtime_.orphans().remove(number());
  runtime_.forget(number());
  tell_end();
}

}  // namespace weft::verbs::detail
