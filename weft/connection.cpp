// SPDX-License-Identifier: Apache-2.0
#include "weft/connection.hpp"

#include <fcntl.h>

#include <utility>

#include "weft/detail/link.hpp"

namespace weft {

using detail::Operation;
using Kind = Operation::Kind;

namespace {

Result<void> without_value(const detail::Outcome& outcome) {
  if (!outcome) return std::unexpected(outcome.error());
  return {};
}

// Ends the connection if the step had no result by its deadline.
Result<void> by_deadline(std::optional<Result<void>> done, detail::Link& link, std::string_view operation,
                         std::string_view late) {
  if (done) return std::move(*done);
  link.abort(Errc::kTimedOut, late);
  return std::unexpected(detail::to_error({Errc::kTimedOut, "connection", late}, operation));
}

Operation atomic(Slice old, const RemoteRegion& remote, std::uint64_t add) {
  return {.kind = Kind::kFetchAdd, .local = old, .remote = remote, .swap_or_add = add};
}

Operation atomic(Slice old, const RemoteRegion& remote, std::uint64_t compare, std::uint64_t swap) {
  return {.kind = Kind::kCompareSwap, .local = old, .remote = remote, .compare = compare, .swap_or_add = swap};
}

}  // namespace

// --- Beginning and end

Result<Connection> Connection::prepare(const Endpoint& to) {
  auto link = detail::Link::to(to);
  if (!link) return std::unexpected(link.error());
  return Connection(std::move(*link));
}

Result<Connection> Connection::connect(const Endpoint& to, Deadline deadline, std::span<const std::byte> private_data) {
  auto made = prepare(to);
  if (!made) return made;
  if (const auto done = made->establish(deadline, private_data); !done) return std::unexpected(done.error());
  return made;
}

Connection& Connection::operator=(Connection&& other) noexcept {
  Connection(std::move(other)).link_.swap(link_);
  return *this;
}

// In a child of fork(), threads that it does not have may hold the locks of its parent's connection, and wait for it.
Connection::~Connection() {
  if (!link_) return;
  if (detail::is_parents(*link_)) {
    verbs::detail::keep_for_ever(std::move(link_));
  } else {
    link_->destroy();
  }
}

Result<void> Connection::establish(Deadline deadline, std::span<const std::byte> private_data) {
  if (auto begun = begin_establish(private_data); !begun) return begun;
  return by_deadline(link_->step_establish(deadline), *link_, "establish", "the peer did not answer in time");
}

Result<void> Connection::close(Deadline deadline) {
  if (auto begun = begin_close(); !begun) return begun;
  return by_deadline(link_->step_close(deadline), *link_, "close", "the peer did not close in time");
}

Result<void> Connection::reject(std::span<const std::byte> private_data) {
  return link_->reject(private_data);
}

Result<void> Connection::begin_establish(std::span<const std::byte> private_data) {
  return link_->begin_establish(private_data);
}
std::optional<Result<void>> Connection::step_establish() { return link_->step_establish(Deadline::Clock::now()); }
Result<void> Connection::begin_close() { return link_->begin_close(); }
std::optional<Result<void>> Connection::step_close() { return link_->step_close(Deadline::Clock::now()); }
void Connection::abort(const Error& cause) { link_->abort(cause); }
int Connection::event_descriptor() const noexcept { return link_->events.descriptor(); }

std::span<const std::byte> Connection::peer_data() const noexcept { return link_->peer_data; }
Endpoint Connection::peer() const {
  const auto remote = link_->id->remote_address();
  return {remote.address.to_string(), remote.port};
}

// --- Memory

Result<Region> Connection::register_octets(std::span<std::byte> octets, Access access) {
  if (const auto mine = link_->ours("register_memory"); !mine) return std::unexpected(mine.error());
  auto region = detail::lift(link_->domain.register_memory(octets.data(), octets.size(), access), "register_memory");
  if (!region) return std::unexpected(region.error());
  return Region(std::move(*region));
}

Result<Region> Connection::register_octets(std::span<const std::byte> octets, Access access) {
  if (has(access, Access::kLocalWrite)) {
    return std::unexpected(
        detail::to_error({Errc::kInvalidArgument, "access", "writes to memory that is const"}, "register_memory"));
  }
  return register_octets(std::span(const_cast<std::byte*>(octets.data()), octets.size()), access);
}

// --- Operations

Result<void> Connection::send(Slice message, Deadline deadline) {
  return without_value(link_->run({.kind = Kind::kSend, .local = message}, deadline));
}
Result<std::size_t> Connection::receive(Slice into, Deadline deadline) {
  return link_->run({.kind = Kind::kReceive, .local = into}, deadline);
}
Result<void> Connection::write(Slice local, const RemoteRegion& remote, Deadline deadline) {
  return without_value(link_->run({.kind = Kind::kWrite, .local = local, .remote = remote}, deadline));
}
Result<void> Connection::read(Slice local, const RemoteRegion& remote, Deadline deadline) {
  return without_value(link_->run({.kind = Kind::kRead, .local = local, .remote = remote}, deadline));
}
Result<std::uint64_t> Connection::fetch_add(const RemoteRegion& remote, std::uint64_t add, Deadline deadline) {
  return link_->run(atomic({}, remote, add), deadline);
}
Result<std::uint64_t> Connection::compare_swap(const RemoteRegion& remote, std::uint64_t compare, std::uint64_t swap,
                                               Deadline deadline) {
  return link_->run(atomic({}, remote, compare, swap), deadline);
}

Result<void> Connection::send(Slice message, Post post) {
  return link_->post({.kind = Kind::kSend, .local = message}, post);
}
Result<void> Connection::receive(Slice into, Post post) {
  return link_->post({.kind = Kind::kReceive, .local = into}, post);
}
Result<void> Connection::write(Slice local, const RemoteRegion& remote, Post post) {
  return link_->post({.kind = Kind::kWrite, .local = local, .remote = remote}, post);
}
Result<void> Connection::read(Slice local, const RemoteRegion& remote, Post post) {
  return link_->post({.kind = Kind::kRead, .local = local, .remote = remote}, post);
}
Result<void> Connection::fetch_add(Slice old, const RemoteRegion& remote, std::uint64_t add, Post post) {
  return link_->post(atomic(old, remote, add), post);
}
Result<void> Connection::compare_swap(Slice old, const RemoteRegion& remote, std::uint64_t compare, std::uint64_t swap,
                                      Post post) {
  return link_->post(atomic(old, remote, compare, swap), post);
}

Result<std::size_t> Connection::completions(std::span<verbs::WorkCompletion> out, Deadline deadline) {
  return link_->take(out, deadline);
}
Error Connection::why(const verbs::WorkCompletion& completion) const { return link_->why(completion); }

verbs::QueuePair& Connection::queue_pair() noexcept { return *link_->queue_pair; }
verbs::CompletionQueue& Connection::completion_queue() noexcept { return link_->completions; }
verbs::ProtectionDomain& Connection::domain() noexcept { return link_->domain; }
verbs::ConnectionId& Connection::id() noexcept { return *link_->id; }

// --- For weft/asio.hpp

namespace detail {

void start(Link& link, const Operation& operation, Ticket ticket, Done done) {
  link.start(operation, ticket, std::move(done));
}
void cancel(Link& link, Ticket ticket) { link.cancel(ticket); }
// The program does not see it, so its mode is ours.
int completion_descriptor(const Link& link) noexcept {
  const int descriptor = link.channel.descriptor();
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return descriptor;
}
bool is_parents(const Link& link) noexcept { return link.completions.is_parents(); }
void abandon(Link& link) { link.abandon(); }
bool progress(Link& link) { return link.progress(); }
bool has_started(const Link& link) noexcept { return link.has_started(); }

}  // namespace detail
}  // namespace weft
