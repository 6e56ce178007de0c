// SPDX-License-Identifier: Apache-2.0
// Operations in progress, and the threads that wait for them.
#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "weft/detail/link.hpp"

namespace weft::detail {

namespace {

using verbs::WcStatus;
using verbs::WorkCompletion;

constexpr std::uint64_t kOurs = 1ULL << 63;  // in a wr_id: the rest is a ticket
constexpr std::size_t kAtomicSize = sizeof(std::uint64_t);

bool is_atomic(Operation::Kind kind) noexcept {
  return kind == Operation::Kind::kFetchAdd || kind == Operation::Kind::kCompareSwap;
}

verbs::SendOpcode to_opcode(Operation::Kind kind) noexcept {
  switch (kind) {
    case Operation::Kind::kSend:
    case Operation::Kind::kReceive: break;
    case Operation::Kind::kWrite: return verbs::SendOpcode::kRdmaWrite;
    case Operation::Kind::kRead: return verbs::SendOpcode::kRdmaRead;
    case Operation::Kind::kFetchAdd: return verbs::SendOpcode::kFetchAndAdd;
    case Operation::Kind::kCompareSwap: return verbs::SendOpcode::kCompareAndSwap;
  }
  return verbs::SendOpcode::kSend;
}

verbs::Result<void> check_remote(const Operation& operation) {
  const auto refuse = [](std::string_view why) { return verbs::fail(Errc::kInvalidArgument, "remote", why); };
  switch (operation.kind) {
    case Operation::Kind::kSend:
    case Operation::Kind::kReceive: break;
    case Operation::Kind::kWrite:
    case Operation::Kind::kRead:
      if (operation.local.size() > operation.remote.length) return refuse("shorter than the local memory");
      break;
    case Operation::Kind::kFetchAdd:
    case Operation::Kind::kCompareSwap:
      if (operation.remote.length < kAtomicSize) return refuse("shorter than 8 octets");
      if (operation.remote.address % kAtomicSize != 0) return refuse("its address is not a multiple of 8");
      break;
  }
  return {};
}

}  // namespace

std::string_view name(Operation::Kind kind) noexcept {
  switch (kind) {
    case Operation::Kind::kSend: return "send";
    case Operation::Kind::kReceive: return "receive";
    case Operation::Kind::kWrite: return "write";
    case Operation::Kind::kRead: return "read";
    case Operation::Kind::kFetchAdd: return "fetch_add";
    case Operation::Kind::kCompareSwap: return "compare_swap";
  }
  return "operation";
}

Ticket next_ticket() noexcept {
  static std::atomic<Ticket> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// --- Posting

Result<void> Link::post_work(const Operation& operation, std::uint64_t wr_id, verbs::SendFlags flags) {
  const auto segment = operation.local.sge();
  if (!segment) return std::unexpected(to_error(segment.error(), name(operation.kind)));
  auto posted = check_remote(operation);
  if (posted && operation.kind == Operation::Kind::kReceive) {
    posted = queue_pair->post_receive({.wr_id = wr_id, .segments = {&*segment, 1}});
  } else if (posted) {
    posted = queue_pair->post_send({.wr_id = wr_id,
                                    .opcode = to_opcode(operation.kind),
                                    .flags = flags,
                                    .segments = {&*segment, 1},
                                    .remote_address = operation.remote.address,
                                    .rkey = operation.remote.rkey,
                                    .compare = operation.compare,
                                    .swap_or_add = operation.swap_or_add});
  }
  if (posted) return {};
  if (posted.error().code != Errc::kDisconnected)
    return std::unexpected(to_error(posted.error(), name(operation.kind)));
  const std::lock_guard lock(mutex_);
  Error error = cause();
  error.operation = name(operation.kind);
  return std::unexpected(error);
}

Result<void> Link::post(const Operation& operation, Post how) {
  if ((how.wr_id & kOurs) == 0) return post_work(operation, how.wr_id, how.flags);
  return std::unexpected(to_error({Errc::kInvalidArgument, "wr_id", "2^63 or more"}, name(operation.kind)));
}

// Numbers that a peer returns need registered memory. With the lock held.
Result<void> Link::take_cell(Pending& pending) {
  if (!cells_.region) {
    std::vector<std::uint64_t> cells(verbs::QueuePairAttributes{}.max_send_wr);
    auto region = domain.register_memory(cells.data(), cells.size() * kAtomicSize, Access::kLocalWrite);
    if (!region) return std::unexpected(to_error(region.error(), name(pending.operation.kind)));
    cells_.values = std::move(cells);
    for (std::size_t i = 0; i < cells_.values.size(); ++i) cells_.free.push_back(i);
    cells_.region = Region(std::move(*region));
  }
  if (cells_.free.empty()) {
    const verbs::Error full{Errc::kQueueFull, "send queue", "too many atomics are in progress"};
    return std::unexpected(to_error(full, name(pending.operation.kind)));
  }
  pending.cell = cells_.free.back();
  cells_.free.pop_back();
  pending.operation.local = *cells_.region->subspan(*pending.cell * kAtomicSize, kAtomicSize);
  return {};
}

// It is in the list before it is posted: another thread may take its completion before this one returns. After success,
// it may be gone.
Result<void> Link::begin(Pending& pending) {
  {
    const std::lock_guard lock(mutex_);
    if (is_atomic(pending.operation.kind)) {
      if (auto taken = take_cell(pending); !taken) return taken;
    }
    pending_.push_back(pending);
    if (pending.done) ++started_;
  }
  const Operation operation = pending.operation;
  auto posted = post_work(operation, kOurs | pending.ticket, verbs::SendFlags::kSignaled);
  if (!posted) drop(pending);
  return posted;
}

void Link::drop(Pending& pending) {
  const std::lock_guard lock(mutex_);
  remove(Pendings::s_iterator_to(pending));
}

void Link::remove(Pendings::iterator pending) {
  if (pending->done) --started_;
  if (pending->cell) cells_.free.push_back(*pending->cell);
  pending_.erase(pending);
}

// --- Waiting

// A thread that is canceled while it waits (pthread_cancel()) takes its operation along, and with it the connection.
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
  while (!pending.outcome) {
    if (deadline.expired()) {
      lock.unlock();
      abort(Errc::kTimedOut, "an operation's deadline expired");  // which completes all operations
      deadline = Deadline::never();
      lock.lock();
    } else {
      collect_until(lock, deadline);
    }
  }
  return std::move(*pending.outcome);
}

Result<std::size_t> Link::take(std::span<WorkCompletion> out, Deadline deadline) {
  Lock lock(mutex_);
  for (bool looked = false; posted_.empty(); looked = true) {
    if (looked && deadline.expired())
      return std::unexpected(to_error({Errc::kTimedOut, "completions", "none came in time"}, "completions"));
    collect_until(lock, deadline);
  }
  const std::size_t count = std::min(out.size(), posted_.size());
  std::copy_n(posted_.begin(), count, out.begin());
  posted_.erase(posted_.begin(), posted_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

// Returns when something has changed, or the time is over.
void Link::collect_until(Lock& lock, Deadline deadline) {
  if (!collecting_) return collect(lock, deadline.left());
  changed_.wait_until(lock, deadline.at());
}

void Link::collect(Lock& lock, std::chrono::milliseconds at_most) {
  Pendings finished;
  collect_into(finished, lock, at_most);
  if (finished.empty()) return;
  lock.unlock();
  call(finished);
  lock.lock();
}

void Link::collect_into(Pendings& finished, Lock& lock, std::chrono::milliseconds at_most) {
  std::array<WorkCompletion, 8> taken;
  collecting_ = true;
  const Collecting until_return{*this, lock};
  do {
    again_ = false;
    lock.unlock();
    const auto count = completions.wait(taken, at_most);
    lock.lock();
    if (count) {
      for (const WorkCompletion& completion : std::span(taken).first(*count)) deliver(completion, finished);
      again_ = again_ || *count == taken.size();
    } else if (count.error().code != Errc::kTimedOut) {
      fail_all(to_error(count.error(), "completions"), finished);
    }
    at_most = std::chrono::milliseconds(0);
  } while (again_);
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
    again_ = true;
  } else {
    collect(lock, std::chrono::milliseconds(0));
  }
  return started_ != 0;
}

bool Link::has_started() const {
  const std::lock_guard lock(mutex_);
  return started_ != 0;
}

void Link::cancel(Ticket ticket) {
  {
    const std::lock_guard lock(mutex_);
    const auto is_it = [&](const Pending& pending) { return pending.ticket == ticket; };
    if (std::ranges::none_of(pending_, is_it)) return;
  }
  abort(Errc::kInterrupted, "an operation was canceled");
}

// --- Completions, with the lock held

void Link::deliver(const WorkCompletion& completion, Pendings& finished) {
  const auto is_it = [&](const Pending& pending) { return pending.ticket == (completion.wr_id & ~kOurs); };
  const bool ours = (completion.wr_id & kOurs) != 0;
  const auto pending = ours ? std::ranges::find_if(pending_, is_it) : pending_.end();
  const Operation* const operation = pending != pending_.end() ? &pending->operation : nullptr;
  const bool failed = completion.status != WcStatus::kSuccess;
  if (failed && completion.status != WcStatus::kFlushed && !cause_) cause_ = explain(completion, operation);
  if (!ours) return posted_.push_back(completion);
  if (operation == nullptr) return;
  if (failed) return finish(pending, std::unexpected(explain(completion, operation)), finished);
  const bool receive = operation->kind == Operation::Kind::kReceive;
  finish(pending, pending->cell ? cells_.values[*pending->cell] : receive ? completion.byte_len : 0, finished);
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

// --- Errors

// What ended the connection.
Error Link::cause() const {
  if (cause_) return *cause_;
  Error error{verbs::Error{Errc::kDisconnected, "connection", "ended"}};
  if (!queue_pair) return error;
  const verbs::QueuePairQuery query = queue_pair->query();
  if (query.stream_error) {
    error.code = query.stream_error->remote ? Errc::kDisconnected : Errc::kProtocol;
    error.argument = query.stream_error->remote ? "the peer ended the connection" : "the peer broke the protocol";
    error.reason = query.stream_error->sentence;
    error.stream = query.stream_error;
  } else if (query.end) {
    static_cast<verbs::Error&>(error) = *query.end;
  }
  return error;
}

Error Link::why(const WorkCompletion& completion) const {
  const std::lock_guard lock(mutex_);
  return explain(completion, nullptr);
}

Error Link::explain(const WorkCompletion& completion, const Operation* operation) const {
  Error error;
  if (completion.status == WcStatus::kFlushed) error = cause();
  const auto query = queue_pair ? queue_pair->query() : verbs::QueuePairQuery{};
  const std::string_view sentence = query.stream_error ? query.stream_error->sentence : to_string(completion.status);
  const auto say = [&](Errc code, std::string_view argument, std::string_view reason) {
    static_cast<verbs::Error&>(error) = {code, argument, reason};
    error.stream = query.stream_error;
  };
  switch (completion.status) {
    case WcStatus::kFlushed: break;
    case WcStatus::kLocalProtectionError: {
      say(Errc::kInvalidKey, "local memory", "was deregistered, or never permitted this");
      if (operation == nullptr) break;
      error.segment = operation->local.sge().value_or(verbs::Sge{});
      const bool source = operation->kind == Operation::Kind::kSend || operation->kind == Operation::Kind::kWrite;
      const auto found = domain.check(*error.segment, source ? Access::kNone : Access::kLocalWrite);
      if (!found) static_cast<verbs::Error&>(error) = found.error();
      break;
    }
    case WcStatus::kLocalLengthError:
      say(Errc::kMessageTooLong, "message", "longer than the receive that it met");
      break;
    case WcStatus::kRemoteAccessError: say(Errc::kInvalidKey, "remote memory", sentence); break;
    default: say(Errc::kProtocol, "peer", sentence); break;
  }
  error.operation = operation != nullptr ? name(operation->kind) : "completion";
  error.status = completion.status;
  return error;
}

}  // namespace weft::detail
