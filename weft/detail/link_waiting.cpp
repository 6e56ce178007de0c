// SPDX-License-Identifier: Apache-2.0
// Operations in progress, and the threads that wait for them.
#include <algorithm>
#include <array>
#include <utility>

#include "weft/detail/link.hpp"

namespace weft::detail {

namespace {

using verbs::WcStatus;
using verbs::WorkCompletion;

// Also correct for a completion that failed, although programs cannot rely on that.
bool is_receive(const WorkCompletion& completion) noexcept { return completion.opcode >= verbs::WcOpcode::kReceive; }

}  // namespace

// --- Waiting

// If pthread_cancel() unwinds the waiting thread, aborts the connection, because its operation cannot be withdrawn.
struct Link::Leave {
  Link& link;
  Pending& pending;
  Lock& lock;
  ~Leave() {
    if (pending.outcome) return;
    if (lock.owns_lock()) lock.unlock();
    link.abort(Errc::kInterrupted, "a thread that waited was canceled");
    link.drop(pending);
  }
};

// Likewise, so that another thread collects.
struct Link::Collecting {
  Link& link;
  Lock& lock;
  ~Collecting() {
    if (!lock.owns_lock()) lock.lock();
    link.collecting_ = false;
    link.changed_.notify_all();
  }
};

Outcome Link::run(const Operation& operation, Deadline deadline) {
  Pending pending;
  pending.operation = operation;
  pending.ticket = next_ticket();
  if (const auto begun = begin(pending); !begun) return std::unexpected(begun.error());
  Lock lock(mutex_);
  const Leave unless_done{*this, pending, lock};
  for (bool looked = false; !pending.outcome;) {
    if (looked) {
      give_up(pending, lock, Errc::kTimedOut, "an operation's deadline expired");
      deadline = Deadline::never();
      looked = false;
    } else {
      looked = deadline.expired();
      static_cast<void>(collect_until(lock, deadline));  // an error is the outcome
    }
  }
  return std::move(*pending.outcome);
}

Result<std::size_t> Link::take(std::span<WorkCompletion> out, Deadline deadline) {
  if (const auto mine = ours("completions"); !mine) return std::unexpected(mine.error());
  if (out.empty()) return std::unexpected(to_error({Errc::kInvalidArgument, "out", "empty"}, "completions"));
  Lock lock(mutex_);
  for (bool looked = false; posted_.empty();) {
    if (looked)
      return std::unexpected(to_error({Errc::kTimedOut, "completions", "none came in time"}, "completions"));
    looked = deadline.expired();
    const auto collected = collect_until(lock, deadline);
    if (!collected && posted_.empty()) return std::unexpected(to_error(collected.error(), "completions"));
  }
  const std::size_t count = std::min(out.size(), posted_.size());
  std::copy_n(posted_.begin(), count, out.begin());
  for (const WorkCompletion& taken : out.first(count)) --places_of(is_receive(taken)).untaken;
  posted_.erase(posted_.begin(), posted_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

// Returns when something has changed, or the time is over. If it was over before the call, the queue has been looked
// into meanwhile. An error that the queue reports has failed all operations.
verbs::Result<void> Link::collect_until(Lock& lock, Deadline deadline) {
  if (!collecting_) return collect(lock, deadline.left());
  if (deadline.expired()) return look(lock);
  changed_.wait_until(lock, deadline.at());
  return {};
}

// Returns after a pass that has begun after the call, by whichever thread: see above the class. Why this ends: the
// thread that collects does not sleep, and begins such a pass before it stops.
verbs::Result<void> Link::look(Lock& lock) {
  const std::uint64_t wanted = passes_.begun + 1;
  while (passes_.ended < wanted) {
    if (!collecting_) return collect(lock, std::chrono::milliseconds(0));
    passes_.again = true;
    completions.interrupt_wait();
    changed_.wait(lock);
  }
  return {};
}

verbs::Result<void> Link::collect(Lock& lock, std::chrono::milliseconds at_most) {
  Pendings finished;
  const auto collected = collect_into(finished, lock, at_most);
  if (finished.empty()) return collected;
  lock.unlock();
  call(finished);
  lock.lock();
  return collected;
}

verbs::Result<void> Link::collect_into(Pendings& finished, Lock& lock, std::chrono::milliseconds at_most) {
  std::array<WorkCompletion, 8> taken;
  verbs::Result<void> collected;
  collecting_ = true;
  const Collecting until_return{*this, lock};
  do {
    passes_.again = false;
    const std::uint64_t pass = ++passes_.begun;
    lock.unlock();
    const auto count = completions.wait(taken, at_most);
    lock.lock();
    const bool full = count && *count == taken.size();
    if (count) {
      for (const WorkCompletion& completion : std::span(taken).first(*count)) deliver(completion, finished);
      passes_.again = passes_.again || full;
    } else if (count.error().code != Errc::kTimedOut && count.error().code != Errc::kInterrupted) {
      fail_all(to_error(count.error(), "completions"), finished);
      collected = std::unexpected(count.error());
    }
    if (!full) passes_.ended = pass;
    at_most = std::chrono::milliseconds(0);
  } while (passes_.again);
  return collected;
}

// --- Callbacks

void Link::start(const Operation& operation, Ticket ticket, Done done) {
  auto pending = std::make_unique<Pending>();
  pending->operation = operation;
  pending->ticket = ticket;
  pending->done = std::move(done);
  const auto begun = begin(*pending);
  if (!begun) return pending->done(std::unexpected(begun.error()));
  static_cast<void>(pending.release());  // call() deletes it
}

void Link::call(Pendings& finished) {
  while (!finished.empty()) {
    const std::unique_ptr<Pending> pending(&finished.front());
    finished.pop_front();
    pending->done(std::move(*pending->outcome));
  }
}

// Not with the lock held: a callback may own the connection.
void Link::abandon() {
  Pendings abandoned;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = pending_.begin(); at != pending_.end();) {
      Pending& pending = *at++;
      if (!pending.done) continue;
      remove(Pendings::s_iterator_to(pending));
      abandoned.push_back(pending);
    }
  }
  abandoned.clear_and_dispose([](Pending* pending) { delete pending; });
}

bool Link::progress() {
  while (channel.get_event()) {
  }
  static_cast<void>(completions.arm(verbs::Arm::kAll));
  Lock lock(mutex_);
  if (collecting_) {
    passes_.again = true;
  } else {
    static_cast<void>(collect(lock, std::chrono::milliseconds(0)));  // operations have its error
  }
  return started_ != 0;
}

bool Link::has_started() const {
  const std::lock_guard lock(mutex_);
  return started_ != 0;
}

void Link::cancel(Ticket ticket) {
  Lock lock(mutex_);
  const auto is_it = [&](const Pending& pending) { return pending.ticket == ticket; };
  const auto found = std::ranges::find_if(pending_, is_it);
  if (found != pending_.end()) give_up(*found, lock, Errc::kInterrupted, "an operation was canceled");
}

// Ends the connection for this operation, which fails even if its completion arrives meanwhile: no operation succeeds
// and leaves a dead connection behind. Called with the lock held, and releases it meanwhile: `pending` may be gone
// afterwards if no thread waits for it. The end of the queue pair completes all of its work requests. If the program
// has reset the queue pair, the work request is gone, uses no memory any more, and fails here.
void Link::give_up(Pending& pending, Lock& lock, Errc code, std::string_view reason) {
  const Ticket ticket = pending.ticket;
  const bool reset = queue_pair && verbs::is_unconnected(queue_pair->state());
  pending.given_up = true;
  if (!cause_) cause_ = Error{verbs::Error{code, "connection", reason}};
  lock.unlock();
  abort(code, reason);
  lock.lock();
  if (!reset) return;
  static_cast<void>(look(lock));
  const auto is_it = [ticket](const Pending& one) { return one.ticket == ticket; };
  const auto lost = std::ranges::find_if(pending_, is_it);
  if (lost == pending_.end()) return;
  Pendings finished;
  finish(lost, std::unexpected(explain({.status = WcStatus::kFlushed}, &lost->operation)), finished);
  lock.unlock();
  call(finished);
  lock.lock();
}

// --- Completions, with the lock held

void Link::deliver(const WorkCompletion& completion, Pendings& finished) {
  const auto is_it = [&](const Pending& pending) { return pending.ticket == (completion.wr_id & ~kOurs); };
  const bool ours = (completion.wr_id & kOurs) != 0;
  const auto pending = ours ? std::ranges::find_if(pending_, is_it) : pending_.end();
  const Operation* const operation = pending != pending_.end() ? &pending->operation : nullptr;
  const bool failed = completion.status != WcStatus::kSuccess;
  if (failed && completion.status != WcStatus::kFlushed && !cause_) cause_ = explain(completion, operation);
  if (!ours) return keep(completion);
  if (operation == nullptr) return;
  if (failed) return finish(pending, std::unexpected(explain(completion, operation)), finished);
  if (pending->given_up) {
    const WorkCompletion late{.wr_id = completion.wr_id, .status = WcStatus::kFlushed};
    return finish(pending, std::unexpected(explain(late, operation)), finished);
  }
  const bool receive = operation->kind == Operation::Kind::kReceive;
  finish(pending, pending->cell ? cells_.values[*pending->cell] : receive ? completion.byte_len : 0, finished);
}

// A completion for which nothing was counted is that of an unsignaled work request that failed, or the program posted
// to the queue pair itself.
void Link::keep(const WorkCompletion& completion) {
  posted_.push_back(completion);
  Places& places = places_of(is_receive(completion));
  ++places.untaken;
  places.await_less();
}

void Link::finish(Pendings::iterator at, Outcome outcome, Pendings& finished) {
  Pending& pending = *at;
  pending.outcome = std::move(outcome);
  remove(at);
  if (pending.done) finished.push_back(pending);
}

void Link::fail_all(const Error& error, Pendings& finished) {
  while (!pending_.empty()) {
    Error its = error;
    its.operation = name(pending_.front().operation.kind);
    its.status = WcStatus::kFlushed;
    finish(pending_.begin(), std::unexpected(its), finished);
  }
}

}  // namespace weft::detail
