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
  bool message = false;
  or_end([&] {
    const bool established = link_.life().is_established();
    const bool came = look_locked();
    if (hangup) look_for_the_end();
    message = came && established && !link_.inbox().is_over();
  });
  return message;
}

void Stream::drive_locked() {
  if (link_.life().finished()) return;
  link_.outbox().blocked = false;  // ask the socket again
  io_.receive();
  io_.send();
  settle();
}

// As drive_locked(), if only the socket may have changed: a look that finds nothing costs little more than the system
// call. Returns whether something came.
bool Stream::look_locked() {
  if (link_.life().finished()) return false;
  const bool came = io_.receive();
  if (io_.pipe().is_shared()) look_for_the_end();  // a doorbell rings for it, as for octets
  if (link_.life().finished()) return came;
  auto& outbox = link_.outbox();
  if (!came && !outbox.blocked && !outbox.left && !io_.pipe().has_output() && io_.part_known()) {
    park_buffers();
    if (io_.pipe().is_shared()) settle_watch();
    return false;
  }
  outbox.blocked = false;
  io_.send();
  settle();
  return came;
}

// A stream that waits for a receive, perhaps since just now, does not read, and would not notice that its peer has
// gone.
void Stream::look_for_the_end() {
  const auto& inbox = link_.inbox();
  if (!inbox.stalled || link_.life().finished() || inbox.is_over()) return;
  if (const auto error = io_.pipe().socket().pending_error()) {
    link_.lost(error, now());
    return settle();
  }
  if (inbox.fin_seen() || !io_.pipe().peer_has_closed()) return;
  link_.end_after_stall(now());
  io_.send();
  if (const auto& observer = link_.observer()) observer->on_peer_closed();
  settle();
}

// A number that changes with each octet that the peer sends or acknowledges.
std::uint64_t Stream::moved() const noexcept {
  return link_.inbox().octets_so_far() + link_.outbox().octets_so_far() - io_.pipe().unacknowledged();
}

bool Stream::drive_if_free(Poller& by) {
  try {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return false;
    if (link_.life().finished()) return true;
    if (watch_.driven_by(by)) settle_watch();
    look_locked();
  } catch (const std::bad_alloc&) {
    run_out_of_memory();
  }
  return true;
}

bool Stream::is_due() const {
  const auto deadline = link_.engine().next_deadline();
  return deadline && *deadline <= now();
}

void Stream::deadline_passed() {
  or_end([this] {
    if (link_.life().finished()) return;
    wake_up_ = engine::kNever;
    if (is_due() ||
        link_.disconnect_wait_is_due(now())) {  // what came, or had room, while this process stood still counts
      link_.outbox().blocked = false;
      io_.receive();
      io_.send();
      io_.watch_part();
    }
    if (is_due()) {
      link_.deadline_passed(now());
      link_.stop_waiting(now());  // if it gave up waiting for a receive, the peer's FIN is to be read
      io_.send();
    }
    if (link_.disconnect_wait_is_due(now()) && link_.check_disconnect_wait(moved(), now())) {
      io_.send();
      link_.end_disconnect_wait();
    }
    settle();
  });
}

// What the peer is told is a reset. The application hears of it unless there is no memory for that either.
void Stream::run_out_of_memory() noexcept {
  try {
    abort();
    log_warning("connection with " + link_.peer().to_string(), "closed: out of memory");
  } catch (const std::bad_alloc&) {  // the engine cannot tell its end
  }
  give_up_at_once();
}

void Stream::give_up_at_once() noexcept {
  const std::lock_guard lock(mutex_);
  if (link_.life().finished()) return;
  try {
    link_.close_at_once();
    finish(true);
  } catch (const std::bad_alloc&) {
    link_.abandon();
    watch_.end();
    io_.pipe().reset();
    runtime_.forget(number());
  }
}

void Stream::receives_available() {
  or_end([this] {
    if (link_.life().finished()) return;
    link_.stop_waiting(io_.time());
    drive_locked();
  });
}

void Stream::waited_for_by(Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (!link_.life().finished() && watch_.waited_for_by(waiter)) settle_watch();
}

void Stream::is_over(const Driver& owner) {
  const std::lock_guard lock(mutex_);
  if (link_.life().finished() || !watch_.is_over(owner)) return;
  settle_watch();
  park_buffers();
}

// Not when its lock is taken: a thread is at it.
std::optional<std::uint64_t> Stream::moved_if_unserved() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || link_.life().finished()) return std::nullopt;
  const bool hidden = link_.inbox().reads() && io_.pipe().holds();  // no thread that sleeps would wake for it
  if (!hidden && (watch_.is_served(wanted(), runtime_.progress_threads().has_proxy()) ||
                  !io_.pipe().is_ready(wanted().read, wanted().write)))
    return std::nullopt;
  return link_.inbox().reads_so_far + link_.outbox().octets_so_far();
}

// The child alone runs, and in this thread alone: no lock is needed, nor could it be had.
void Stream::leave_to_parent(int nowhere) noexcept {
  link_.abandon();
  io_.pipe().leave_to_parent(nowhere);
}

void Stream::abandon() {
  const std::lock_guard lock(mutex_);
  if (!link_.life().finished()) {
    link_.witness().closed("as the process is done with it");
    io_.last_octets();
    finish(link_.engine().disposition() == engine::Disposition::kReset);
  }
  link_.forget_observer();
}

// As if its time were over.
void Stream::end_waiting() {
  const std::lock_guard lock(mutex_);
  if (link_.life().finished()) return;
  io_.last_octets();
  if (const auto deadline = link_.engine().next_deadline()) link_.deadline_passed(*deadline);
  settle();
}

// --- Before the lock is given up

void Stream::settle() {
  const auto& life = link_.life();
  if (life.finished()) return;
  if (life.fails()) link_.stop_waiting(io_.time());  // on to the FIN
  if (link_.may_leave_peer() && !io_.has_output()) {
    link_.leave_peer(now());
    io_.send();
  }
  if (io_.pipe().holds()) io_.read_held();
  io_.watch_part();
  link_.forget_leases();
  link_.outbox().left = io_.has_output();
  if (life.is_closed() || !link_.outbox().left) follow_disposition();
  if (life.finished()) return;
  park_buffers();
  settle_watch();
  if (auto* const stalls = link_.witness().stalls()) watch_stalls(*stalls);
  schedule();
}

void Stream::follow_disposition() {
  switch (link_.engine().disposition()) {
    case engine::Disposition::kOpen: return;
    case engine::Disposition::kShutdownWrite:
      if (!link_.sends_fin()) return;
      link_.witness().fin_sent();
      io_.pipe().shutdown_write();
      link_.outbox().left = io_.has_output();  // TLS's close_notify, where the socket did not take it
      return;
    case engine::Disposition::kReset: return finish(true);
    // If the peer's window is still closed at the timeout, a FIN would queue behind unsent data and never arrive. So
    // the connection is reset, and the kernel keeps nothing for it. A process that exits leaves the data to the kernel.
    case engine::Disposition::kClose: return finish(!link_.inbox().is_over() && io_.pipe().peer_takes_nothing());
  }
}

// The few connections of a queue that is polled all the time keep their buffers meanwhile; of many such queues, some.
void Stream::park_buffers() { link_.park(watch_.is_polled_among_few() && runtime_.buffers().may_keep_staging()); }

transport::Interest Stream::wanted() const noexcept {
  const auto& inbox = link_.inbox();
  const auto& outbox = link_.outbox();
  const bool end = inbox.stalled && !inbox.fin_seen();
  if (!io_.pipe().is_shared()) return {.read = inbox.reads(), .write = outbox.blocked || outbox.left, .end = end};
  const bool goes_on = outbox.goes_on || (outbox.left && !outbox.blocked);
  return {.read = inbox.reads() || outbox.blocked || end, .write = goes_on, .end = end};
}

// Updates the watch after each drive. For shared memory:
//  - Readable: the peer rings the doorbell, which it does for a thread that sleeps.
//  - Writable: a doorbell always is. This interest keeps the thread awake for octets that a turn left in or out of the
//    ring, or that came before the announcement.
//  - Room in the ring is reported only once, and a post before the turn settles again, so it is checked each time.
//  - A poller of few streams looks at the rings with each poll, so it needs no announcement.
// Without memory, the update is tried again later, because nothing else may wake the stream.
void Stream::settle_watch() {
  if (auto& pipe = io_.pipe(); pipe.is_shared()) {
    const auto& inbox = link_.inbox();
    const bool sleeps = !watch_.is_polled_among_few();
    const bool news = pipe.rest(sleeps);
    const auto ends = [&] { return inbox.stalled && !inbox.fin_seen() && pipe.peer_has_closed(); };
    const auto has_room = [&] { return link_.outbox().blocked && pipe.is_ready(false, true); };
    link_.outbox().goes_on = (news && (inbox.reads() || ends())) || (sleeps && has_room());
  }
  if (!watch_.settle(wanted(), link_.inbox().stalled)) wake_at(now() + tuning::kWatchRetry);
}

void Stream::schedule() {
  if (const auto deadline = link_.engine().next_deadline()) wake_at(*deadline);
  wake_at(link_.life().disconnect.look_at);  // mostly never
  const auto* const stalls = link_.witness().stalls();
  if (const auto look = stalls != nullptr ? stalls->deadline() : std::nullopt) wake_at(*look);
}

void Stream::wake_at(Instant at) {
  if (wake_up_ <= at) return;
  wake_up_ = at;
  runtime_.wake_at(number(), at);
}

void Stream::finish(bool reset) {
  link_.finish();
  watch_.end();
  link_.witness().rest_understood();
  if (reset) {
    link_.witness().finished(true);
    io_.pipe().reset();
  } else {
    io_.pipe().close();  // a close_notify, and what a capture of the wire shows of it, come before the FIN
    link_.witness().finished(false);
  }
  runtime_.orphans().remove(number());
  runtime_.forget(number());
  link_.report_end();
}

}  // namespace weft::verbs::detail
