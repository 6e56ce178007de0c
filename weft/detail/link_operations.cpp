// SPDX-License-Identifier: Apache-2.0
// Operations are posted, and their errors are explained.
#include <atomic>
#include <numeric>
#include <utility>

#include "weft/detail/link.hpp"

namespace weft::detail {

namespace {

using verbs::WcStatus;
using verbs::WorkCompletion;

constexpr std::size_t kAtomicSize = sizeof(std::uint64_t);
constexpr std::uint64_t kPlaces = verbs::QueuePairAttributes{}.max_send_wr;  // and as many for receives
static_assert(kPlaces == verbs::QueuePairAttributes{}.max_receive_wr);

constexpr verbs::Error kWrIdTooLarge{Errc::kInvalidArgument, "wr_id", "2^63 or more"};
constexpr verbs::Error kSendQueueFull{Errc::kQueueFull, "send queue", "full: call completions() first"};
constexpr verbs::Error kReceiveQueueFull{Errc::kQueueFull, "receive queue", kSendQueueFull.reason};

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

// What is wrong with it; empty: nothing.
std::string_view fault_of_remote(const Operation& operation) noexcept {
  switch (operation.kind) {
    case Operation::Kind::kSend:
    case Operation::Kind::kReceive: break;
    case Operation::Kind::kWrite:
    case Operation::Kind::kRead:
      if (operation.local.size() > operation.remote.length) return "shorter than the local memory";
      break;
    case Operation::Kind::kFetchAdd:
    case Operation::Kind::kCompareSwap:
      if (operation.remote.length < kAtomicSize) return "shorter than 8 octets";
      if (operation.remote.address % kAtomicSize != 0) return "its address is not a multiple of 8";
      break;
  }
  return {};
}

// TCP's connection ended inside a message, as it does when the peer's process is killed (RFC 5044 section 8).
bool is_loss(const verbs::StreamError& error) noexcept { return error.layer == 2 && error.code == 1; }

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

Result<void> Link::ours(std::string_view operation) const {
  if (!completions.is_parents()) return {};
  return std::unexpected(to_error(verbs::detail::not_ours("connection").error(), operation));
}

// --- Posting

// close() is about the sends that were posted before it. If one of those fails, so do all later ones. If none of them
// fails, no more sends fail than these.
verbs::Result<void> Link::post_late_send(const verbs::SendRequest& request) {
  const std::lock_guard lock(life_.closing_mutex);
  auto posted = queue_pair->post_send(request);
  if (posted) ++life_.late_sends;
  return posted;
}

// Errors are put into words in refuse(), so that a work request without one pays for none. `counted`: null if Post does
// not await a completion.
Result<void> Link::post_work(const Operation& operation, Post how, Places* counted) {
  const auto segment = operation.local.sge();
  if (!segment) return refuse(operation, segment.error(), counted);
  if (operation.kind == Operation::Kind::kReceive) {
    const auto posted = queue_pair->post_receive({.wr_id = how.wr_id, .segments = {&*segment, 1}});
    if (!posted) return refuse(operation, posted.error(), counted);
    return {};
  }
  const auto fault = fault_of_remote(operation);
  if (!fault.empty()) return refuse(operation, {Errc::kInvalidArgument, "remote", fault}, counted);
  const verbs::SendRequest request{.wr_id = how.wr_id,
                                   .opcode = to_opcode(operation.kind),
                                   .flags = how.flags,
                                   .segments = {&*segment, 1},
                                   .remote_address = operation.remote.address,
                                   .rkey = operation.remote.rkey,
                                   .compare = operation.compare,
                                   .swap_or_add = operation.swap_or_add};
  const auto posted = life_.closing ? post_late_send(request) : queue_pair->post_send(request);
  if (!posted) return refuse(operation, posted.error(), counted);
  return {};
}

// Returns the error of a work request that was not posted, and counts it no longer.
Result<void> Link::refuse(const Operation& operation, const verbs::Error& error, Places* counted) const {
  if (counted != nullptr) counted->await_less();
  if (auto mine = ours(name(operation.kind)); !mine) return mine;
  if (error.code != Errc::kDisconnected) return std::unexpected(to_error(error, name(operation.kind)));
  const std::lock_guard lock(mutex_);
  Error reason = cause();
  reason.operation = name(operation.kind);
  return std::unexpected(reason);
}

// If the program has taken all that was collected, and nobody collects, the queue pair counts alone. So it does for a
// program that polls the completion queue itself, whose completions are never collected. Without the lock: a work
// request counts before it is compared with the limit, so that concurrent ones never pass it together, and keep() adds
// a completion before it removes what was awaited.
Result<void> Link::post(const Operation& operation, Post how) {
  if ((how.wr_id & kOurs) != 0) return refuse(operation, kWrIdTooLarge, nullptr);
  const bool receives = operation.kind == Operation::Kind::kReceive;
  const bool completes = receives || has(how.flags, verbs::SendFlags::kSignaled);
  if (receives && completions.is_parents()) return ours(name(operation.kind));  // the queue pair refuses sends itself
  Places& places = places_of(receives);
  Places* const counted = completes ? &places : nullptr;
  const auto awaited = completes ? places.awaited.fetch_add(1) : places.awaited.load();
  const auto untaken = places.untaken.load();
  const bool full = (untaken != 0 || collecting_) && awaited + untaken >= kPlaces;
  if (!full) return post_work(operation, how, counted);
  return refuse(operation, receives ? kReceiveQueueFull : kSendQueueFull, counted);
}

// Numbers that a peer returns need registered memory. With the lock held.
Result<void> Link::take_cell(Pending& pending) {
  if (!cells_.region) {
    std::vector<std::uint64_t> cells(verbs::QueuePairAttributes{}.max_send_wr);
    auto region = domain.register_memory(cells.data(), cells.size() * kAtomicSize, Access::kLocalWrite);
    if (!region) return std::unexpected(to_error(region.error(), name(pending.operation.kind)));
    cells_.values = std::move(cells);
    cells_.free.resize(cells_.values.size());
    std::iota(cells_.free.begin(), cells_.free.end(), std::size_t{0});
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

// What could not be posted leaves the list, also if an exception says so.
struct Link::Begun {
  Link& link;
  Pending* pending;  // null: posted
  ~Begun() {
    if (pending != nullptr) link.drop(*pending);
  }
};

// It is in the list before it is posted: another thread may take its completion before this one returns. After success,
// it may be gone.
Result<void> Link::begin(Pending& pending) {
  if (auto mine = ours(name(pending.operation.kind)); !mine) return mine;
  {
    const std::lock_guard lock(mutex_);
    if (is_atomic(pending.operation.kind)) {
      if (auto taken = take_cell(pending); !taken) return taken;
    }
    pending_.push_back(pending);
    if (pending.done) ++started_;
  }
  Begun begun{*this, &pending};
  const Operation operation = pending.operation;
  auto posted = post_work(operation, {.wr_id = kOurs | pending.ticket}, nullptr);
  if (posted) begun.pending = nullptr;
  return posted;
}

void Link::drop(Pending& pending) {
  const std::lock_guard lock(mutex_);
  if (pending.is_linked()) remove(Pendings::s_iterator_to(pending));
}

void Link::remove(Pendings::iterator pending) {
  if (pending->done) --started_;
  if (pending->cell) cells_.free.push_back(*pending->cell);
  pending_.erase(pending);
}

// --- Errors

// What ended the connection.
Error Link::cause() const {
  if (cause_) return *cause_;
  Error error{verbs::Error{Errc::kDisconnected, "connection", "ended"}};
  if (!queue_pair) return error;
  const verbs::QueuePairQuery query = queue_pair->query();
  if (query.stream_error) {
    const bool remote = query.stream_error->remote;
    error.code = remote || is_loss(*query.stream_error) ? Errc::kDisconnected : Errc::kProtocol;
    error.argument = remote                             ? "the peer ended the connection"
                     : error.code == Errc::kDisconnected ? "the connection was lost"
                                                         : "the peer broke the protocol";
    error.reason = query.stream_error->sentence;
    error.stream = query.stream_error;
  } else if (query.end) {
    static_cast<verbs::Error&>(error) = *query.end;
  }
  return error;
}

Error Link::why(const WorkCompletion& completion) const {
  if (const auto mine = ours("completion"); !mine) return mine.error();
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
      say(Errc::kMessageTooLong, "message", "longer than the posted receive");
      break;
    case WcStatus::kRemoteAccessError: say(Errc::kInvalidKey, "remote memory", sentence); break;
    default: say(Errc::kProtocol, "peer", sentence); break;
  }
  error.operation = operation != nullptr ? name(operation->kind) : "completion";
  error.status = completion.status;
  return error;
}

}  // namespace weft::detail
