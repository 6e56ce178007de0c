// SPDX-License-Identifier: Apache-2.0
// How a connection begins and ends.
#include "weft/detail/link.hpp"

#include <algorithm>
#include <utility>

namespace weft::detail {

namespace {

using verbs::ConnectionEvent;
using verbs::ConnectionEventType;

constexpr std::string_view kPrepare = "connect";
constexpr std::string_view kEstablish = "establish";
constexpr std::chrono::seconds kLocalPatience{10};  // for what waits for no peer

verbs::Result<void> expect(verbs::EventChannel& events, ConnectionEventType type) {
  const auto event = events.get_event(kLocalPatience);
  if (!event) return std::unexpected(event.error());
  if (event->type == type) return {};
  return std::unexpected(event->error.value_or(verbs::Error{Errc::kSystem, "connection", to_string(event->type)}));
}

}  // namespace

Link::Link(Parts parts, bool is_responder, std::vector<std::byte> data)
    : events(std::move(parts.events)),
      id(std::move(parts.id)),
      domain(std::move(parts.domain)),
      channel(std::move(parts.channel)),
      completions(std::move(parts.completions)),
      queue_pair(std::move(parts.queue_pair)),
      peer_data(std::move(data)),
      responder(is_responder) {}

Result<std::shared_ptr<Link>> Link::to(const Endpoint& peer) {
  const auto address = lift(verbs::lookup(peer.host, peer.port), kPrepare);
  if (!address) return std::unexpected(address.error());
  auto events = lift(verbs::EventChannel::create(), kPrepare);
  if (!events) return std::unexpected(events.error());
  auto id = lift(verbs::ConnectionId::create(*events), kPrepare);
  if (!id) return std::unexpected(id.error());
  auto resolved = id->resolve_address(*address);
  if (resolved) resolved = expect(*events, ConnectionEventType::kAddressResolved);
  if (resolved) resolved = id->resolve_route();
  if (resolved) resolved = expect(*events, ConnectionEventType::kRouteResolved);
  if (!resolved) return std::unexpected(to_error(resolved.error(), kPrepare));
  return make(std::move(*events), std::move(*id), false, {});
}

Result<std::shared_ptr<Link>> Link::from(ConnectionEvent request) {
  auto events = lift(verbs::EventChannel::create(), "next");
  if (!events) return std::unexpected(events.error());
  const auto moved = lift(request.request->migrate(*events), "next");
  if (!moved) return std::unexpected(moved.error());
  return make(std::move(*events), std::move(*request.request), true, std::move(request.private_data));
}

Result<std::shared_ptr<Link>> Link::make(verbs::EventChannel events, verbs::ConnectionId id, bool responder,
                                         std::vector<std::byte> data) {
  const std::string_view operation = responder ? "next" : kPrepare;
  auto device = lift(id.device(), operation);
  if (!device) return std::unexpected(device.error());
  auto domain = lift(device->allocate_protection_domain(), operation);
  if (!domain) return std::unexpected(domain.error());
  auto channel = lift(verbs::CompletionChannel::create(), operation);
  if (!channel) return std::unexpected(channel.error());
  verbs::QueuePairAttributes attributes;
  auto completions = lift(device->create_completion_queue(
                              {.capacity = attributes.max_send_wr + attributes.max_receive_wr, .channel = &*channel}),
                          operation);
  if (!completions) return std::unexpected(completions.error());
  attributes.send_cq = attributes.receive_cq = &*completions;
  auto pair = lift(domain->create_queue_pair(attributes), operation);
  if (pair) {
    if (const auto ready = lift(pair->modify(verbs::QpState::kInit), operation); !ready)
      return std::unexpected(ready.error());
  }
  if (!pair) return std::unexpected(pair.error());
  return std::make_shared<Link>(Parts{std::move(events), std::move(id), std::move(*domain), std::move(*channel),
                                      std::move(*completions), std::move(*pair)},
                                responder, std::move(data));
}

// What an argument or the state does not permit changes nothing; any other error is the end.
Result<void> Link::begin_establish(std::span<const std::byte> private_data) {
  if (auto mine = ours(kEstablish); !mine) return mine;
  if (life_.established)
    return std::unexpected(to_error({Errc::kInvalidState, "connection", "already established"}, kEstablish));
  {
    const std::lock_guard lock(mutex_);
    if (cause_) {
      Error error = *cause_;
      error.operation = kEstablish;
      return std::unexpected(error);
    }
  }
  const verbs::ConnectionParameters parameters{.private_data = private_data};
  auto begun =
      lift(responder ? id->accept(*queue_pair, parameters) : id->connect(*queue_pair, parameters), kEstablish);
  if (begun || begun.error().code == Errc::kPrivateDataTooLong || begun.error().code == Errc::kInvalidState)
    return begun;
  return fail_establish(std::move(begun.error()));
}

// No connection comes about any more, and operations say why.
std::unexpected<Error> Link::fail_establish(Error error) {
  error.operation = kEstablish;
  abort(error);
  return std::unexpected(std::move(error));
}

Result<void> Link::reject(std::span<const std::byte> private_data) {
  auto rejected = lift(id->reject(private_data), "reject");
  if (rejected) abort(Errc::kRejected, "this end rejected the request");
  return rejected;
}

// Nothing: no event came in time.
std::optional<Result<ConnectionEvent>> Link::next_event(Deadline deadline) {
  for (;;) {
    auto event = events.get_event(deadline.left());
    if (event) return std::move(*event);
    const bool late = event.error().code == Errc::kTimedOut;
    if (late && deadline.expired()) return std::nullopt;
    if (!late && event.error().code != Errc::kInterrupted) return lift(std::move(event), "connection events");
  }
}

std::optional<Result<void>> Link::step_establish(Deadline deadline) {
  while (auto event = next_event(deadline)) {
    if (!*event) return fail_establish(std::move(event->error()));
    const ConnectionEventType type = (*event)->type;
    const bool answered = type == ConnectionEventType::kEstablished || type == ConnectionEventType::kRejected;
    if (answered && !responder) peer_data = std::move((*event)->private_data);
    if (type == ConnectionEventType::kEstablished) {
      life_.established = true;
      return Result<void>{};
    }
    if (type == ConnectionEventType::kDisconnected) {
      life_.over = true;
      Lock lock(mutex_);
      Error error = cause();
      lock.unlock();
      return fail_establish(std::move(error));
    }
    if ((*event)->error) return fail_establish(to_error(*(*event)->error, kEstablish));
  }
  return std::nullopt;
}

// A connection that was never established raises no kDisconnected. Sends that failed before the call are no error of
// close().
Result<void> Link::begin_close() {
  if (auto mine = ours("close"); !mine) return mine;
  {
    const std::lock_guard lock(life_.closing_mutex);
    life_.closing = true;
    life_.failed_sends = queue_pair->query().failed_sends;
    life_.late_sends = 0;
  }
  if (life_.over) return {};
  if (life_.established) return lift(id->disconnect(verbs::Unfinished::kAwait), "close");
  return std::unexpected(to_error({Errc::kInvalidState, "connection", "was not established"}, "close"));
}

std::optional<Result<void>> Link::step_close(Deadline deadline) {
  while (!life_.over) {
    const auto event = next_event(deadline);
    if (!event) return std::nullopt;
    if (!*event) return std::unexpected(event->error());
    life_.over = (*event)->type == ConnectionEventType::kDisconnected;
  }
  verbs::QueuePairQuery query;
  {
    const std::lock_guard lock(life_.closing_mutex);
    query = queue_pair->query();
    if (query.failed_sends <= life_.failed_sends + life_.late_sends) return Result<void>{};
  }
  const std::lock_guard lock(mutex_);
  Error error{verbs::Error{Errc::kDisconnected, "connection", "ended before all posted sends were done"}};
  if (cause_ || query.stream_error) error = cause();
  error.operation = "close";
  error.status = verbs::WcStatus::kFlushed;
  return std::unexpected(error);
}

void Link::abort(Errc code, std::string_view reason) { abort(Error{verbs::Error{code, "connection", reason}}); }

void Link::abort(const Error& cause) {
  if (!ours({})) return;
  {
    const std::lock_guard lock(mutex_);
    if (!cause_) cause_ = cause;
  }
  static_cast<void>(queue_pair->modify(verbs::QpState::kError));  // it exists, and is of this process
}

// What has completed is delivered. The queue pair's end frees the memory of all other operations at once; then each
// hears of it.
void Link::destroy() {
  const auto query = queue_pair->query();
  Pendings finished;
  {
    Lock lock(mutex_);
    static_cast<void>(collect(lock, std::chrono::milliseconds(0)));
    if (!cause_ && !query.end && !query.stream_error)
      cause_ = Error{verbs::Error{Errc::kDisconnected, "connection", "this end destroyed it"}};
  }
  const Error error = why({.status = verbs::WcStatus::kFlushed});
  queue_pair.reset();
  id.reset();
  {
    const std::lock_guard lock(mutex_);
    fail_all(error, finished);
  }
  call(finished);
}

}  // namespace weft::detail
