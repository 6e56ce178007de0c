// SPDX-License-Identifier: Apache-2.0
#include "verbs/connection.hpp"
#include "verbs/base/retry_without_memory.hpp"

#include <utility>

#include "verbs/connecting/connection_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

// --- Event channels

Result<EventChannel> EventChannel::create() {
  auto runtime = detail::Runtime::acquire();
  if (!runtime) return std::unexpected(runtime.error());
  // Bounded by the identifiers: each causes a few events, and requests are bounded by backlogs.
  auto events = detail::NotificationQueue<detail::QueuedEvent>::create(detail::kUnboundedEvents);
  if (!events) return std::unexpected(events.error());
  EventChannel channel;
  channel.self_ = {std::move(*runtime), nullptr};
  channel.self_.state = std::make_shared<detail::EventChannelState>(*channel.self_.runtime, std::move(*events));
  return channel;
}

int EventChannel::descriptor() const noexcept { return self_->events->descriptor(); }

Result<ConnectionEvent> EventChannel::get_event() {
  auto* const own = self_.ours();
  return own != nullptr ? deliver(own->get_event()) : detail::not_ours("channel");
}

Result<ConnectionEvent> EventChannel::get_event(std::chrono::milliseconds at_most) {
  if (at_most.count() < 0) return fail(Errc::kInvalidArgument, "at_most", "negative");
  auto* const own = self_.ours();
  return own != nullptr ? deliver(own->get_event(at_most)) : detail::not_ours("channel");
}

Result<ConnectionEvent> EventChannel::deliver(Result<detail::QueuedEvent> queued) {
  if (!queued) return std::unexpected(queued.error());
  ConnectionEvent event = std::move(queued->event);
  if (queued->offer) {
    event.request.reset(new ConnectionId());
    event.request->self_ = {self_.runtime, queued->offer->take()};
    event.request->self_->taken(self_.state);
  }
  return event;
}

// --- Identifiers

Result<ConnectionId> ConnectionId::create(const EventChannel& channel, std::uint64_t context) {
  const auto& runtime = channel.self_.runtime;
  ConnectionId id;
  id.self_ = {runtime, std::make_shared<detail::ConnectionState>(*runtime, channel.self_.state, context)};
  return id;
}

ConnectionId& ConnectionId::operator=(ConnectionId&& other) noexcept {
  if (this == &other) return *this;
  if (auto* const own = self_.ours()) detail::retry_without_memory([own] { own->destroy(); });
  self_ = std::move(other.self_);
  return *this;
}

ConnectionId::~ConnectionId() {
  if (auto* const own = self_.ours()) detail::retry_without_memory([own] { own->destroy(); });
}

std::uint64_t ConnectionId::number() const noexcept { return self_->number; }
std::uint64_t ConnectionId::context() const noexcept { return self_->context(); }
void ConnectionId::set_context(std::uint64_t context) noexcept { self_->set_context(context); }
Policy ConnectionId::policy() const { return self_->policy(); }
AddressOptions ConnectionId::address_options() const { return self_->address_options(); }

template <typename Call>
Result<void> ConnectionId::with_own(Call call) {
  auto* const own = self_.ours();
  return own != nullptr ? call(*own) : detail::not_ours("connection");
}

Result<void> ConnectionId::set_policy(const Policy& policy) {
  return with_own([&](auto& own) { return own.set_policy(policy); });
}
Result<void> ConnectionId::set_type_of_service(std::uint8_t octet) {
  return with_own([&](auto& own) { return own.set_type_of_service(octet); });
}
Result<void> ConnectionId::set_address_options(const AddressOptions& options) {
  return with_own([&](auto& own) { return own.set_address_options(options); });
}

// --- Addresses

Result<void> ConnectionId::bind_address(const Endpoint& local) {
  return with_own([&](auto& own) { return own.bind_address(local); });
}
Result<void> ConnectionId::bind_socket(int descriptor) {
  return with_own([&](auto& own) { return own.bind_socket(descriptor); });
}
Result<void> ConnectionId::resolve_address(const Endpoint& destination, const std::optional<Endpoint>& source) {
  return with_own([&](auto& own) { return own.resolve_address(destination, source); });
}
Result<void> ConnectionId::resolve_route() {
  return with_own([](auto& own) { return own.resolve_route(); });
}
Result<void> ConnectionId::set_route(const Address& source, const Endpoint& destination) {
  return with_own([&](auto& own) { return own.set_route(source, destination); });
}

// --- Connections

Result<void> ConnectionId::listen(int backlog) {
  return with_own([&](auto& own) { return own.listen(backlog); });
}
Result<ListenCounts> ConnectionId::listen_counts() const { return self_->listen_counts(); }
Result<int> ConnectionId::duplicate_listener() const { return self_->duplicate_listener(); }
Result<void> ConnectionId::hold_requests(bool on) {
  return with_own([&](auto& own) { return own.hold_requests(on); });
}
Result<void> ConnectionId::connect(QueuePair& queue_pair, const ConnectionParameters& parameters) {
  return with_own([&](auto& own) { return own.connect(queue_pair.self_.state, parameters); });
}
Result<void> ConnectionId::accept(QueuePair& queue_pair, const ConnectionParameters& parameters) {
  return with_own([&](auto& own) { return own.accept(queue_pair.self_.state, parameters); });
}
void ConnectionId::raise(ConnectionEventType type, std::span<const std::byte> data) {
  if (auto* const own = self_.ours()) own->post({.type = type, .private_data = {data.begin(), data.end()}});
}
Result<void> ConnectionId::reject(std::span<const std::byte> private_data) {
  return with_own([&](auto& own) { return own.reject(private_data); });
}
Result<void> ConnectionId::disconnect(Unfinished work) {
  return with_own([&](auto& own) { return own.disconnect(work); });
}
Result<void> ConnectionId::migrate(const EventChannel& channel) {
  return with_own([&](auto& own) {
    own.migrate(channel.self_.state);
    return Result<void>{};
  });
}

Endpoint ConnectionId::local_address() const { return self_->local(); }
Endpoint ConnectionId::remote_address() const { return self_->remote(); }

std::size_t ConnectionId::tcp_info(std::span<std::byte> into) const {
  const auto* const own = self_.ours();
  return own != nullptr ? own->tcp_info(into) : 0;
}

std::optional<PeerIdentity> ConnectionId::peer_identity() const {
  const auto* const own = self_.ours();
  return own != nullptr ? own->peer_identity() : std::nullopt;
}

Result<Device> ConnectionId::device() const {
  const Address address = local_address().address;
  if (address.is_any()) return fail(Errc::kInvalidState, "connection", "has no local address yet");
  return Device::open(address);
}

}  // namespace weft::verbs
