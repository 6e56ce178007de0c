// SPDX-License-Identifier: Apache-2.0
// What a connection identifier has of sockets before there is a stream: an address, a port that is its own until it is
// used, and the options of the connections to come.
#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "transport/own_descriptors.hpp"
#include "verbs/connecting/connection_state.hpp"
#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

namespace {

Error cannot_bind(const std::error_code& error) {
  if (error == std::errc::address_in_use) {
    return {Errc::kAddressInUse, "local", "another listener or connection has this port", error.value()};
  }
  const bool ours = error == std::errc::address_not_available || error == std::errc::permission_denied ||
                    error == std::errc::invalid_argument;
  return {ours ? Errc::kInvalidArgument : Errc::kSystem, "local", "cannot bind to this address", error.value()};
}

bool no_descriptor(const std::error_code& error) {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
}

}  // namespace

AddressOptions ConnectionState::address_options() const {
  const std::lock_guard lock(mutex_);
  return addresses_.options();
}

Result<void> ConnectionState::set_address_options(const AddressOptions& options) {
  const std::lock_guard lock(mutex_);
  if (phase_ > Phase::kRouteResolved) {
    return fail(Errc::kInvalidState, "connection", "its address is fixed by connect and listen");
  }
  if (const auto error = addresses_.set_options(options)) return std::unexpected(cannot_bind(error));
  return {};
}

Result<void> ConnectionState::bind_address(const Endpoint& local) { return bind(local, Addresses::Port::kNow); }

Result<void> ConnectionState::bind(const Endpoint& local, Addresses::Port port) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kIdle) return fail(Errc::kInvalidState, "connection", "already bound, resolved or connected");
  if (const auto error = addresses_.bind(local, port)) return std::unexpected(cannot_bind(error));
  phase_ = Phase::kBound;
  return {};
}

Result<void> ConnectionState::bind_socket(int descriptor) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kIdle) return fail(Errc::kInvalidState, "connection", "already bound, resolved or connected");
  if (const auto error = addresses_.adopt(descriptor)) return std::unexpected(cannot_bind(error));
  phase_ = Phase::kBound;
  return {};
}

Result<void> ConnectionState::resolve_address(const Endpoint& destination, const std::optional<Endpoint>& source) {
  if (destination.port == 0) return fail(Errc::kInvalidArgument, "destination", "has no port");
  if (source && !source->address.is_any() && source->address.family != destination.address.family) {
    return fail(Errc::kInvalidArgument, "source", "not of the destination's address family");
  }
  if (source && in(Phase::kIdle)) {
    if (const auto bound = bind(*source, Addresses::Port::kLater); !bound) return bound;
  }
  if (!in(Phase::kIdle) && !in(Phase::kBound)) {
    return fail(Errc::kInvalidState, "connection", "already resolved, listening or connected");
  }
  std::expected<Address, std::error_code> towards;
  {
    const std::lock_guard lock(mutex_);
    if (!addresses_.of_one_family(destination.address)) {
      return fail(Errc::kInvalidArgument, "destination", "not of the address family of the local address");
    }
    towards = addresses_.resolve(destination);
    if (towards) phase_ = Phase::kAddressResolved;
  }
  if (!towards) {
    log_connection(LogLevel::kInfo, number, "no route to " + destination.to_string());
    post(ConnectionEventType::kAddressError,
         no_descriptor(towards.error())
             ? Error{Errc::kSystem, "connection", "cannot open a socket", towards.error().value()}
             : Error{Errc::kUnreachable, "destination", "no route to this address", towards.error().value()});
    return {};
  }
  log_connection(LogLevel::kDebug, number,
                 [&] { return destination.to_string() + " resolved: by way of " + towards->to_string(); });
  post(ConnectionEventType::kAddressResolved);
  return {};
}

Result<void> ConnectionState::resolve_route() {
  const auto done = leave(Phase::kAddressResolved, Phase::kRouteResolved, "its address is not resolved");
  if (done) post(ConnectionEventType::kRouteResolved);
  return done;
}

Result<void> ConnectionState::set_route(const Address& source, const Endpoint& destination) {
  if (destination.port == 0) return fail(Errc::kInvalidArgument, "destination", "has no port");
  if (source.is_any() || source.family != destination.address.family)
    return fail(Errc::kInvalidArgument, "source", "the wildcard, or not of the destination's address family");
  if (const auto bound = bind({.address = source, .port = 0}, Addresses::Port::kLater); !bound) return bound;
  const std::lock_guard lock(mutex_);
  addresses_.set_remote(destination);
  phase_ = Phase::kRouteResolved;
  return {};
}

// --- Options of connections

transport::SocketOptions ConnectionState::socket_options() const {
  transport::SocketOptions options;
  if (policy_->timeouts.keepalive) options.keepalive = transport::KeepAlive{};
  if (policy_->timeouts.user.count() != 0) options.user_timeout = policy_->timeouts.user;
  if (policy_->startup.type_of_service != 0) options.type_of_service = policy_->startup.type_of_service;
  options.congestion_control = policy_->startup.congestion_control;
  return options;
}

// The type of service may have been set since the connector or the listener was made.
void ConnectionState::mark(transport::Socket& socket) const {
  if (policy_->startup.type_of_service != 0)
    static_cast<void>(socket.set({.type_of_service = policy_->startup.type_of_service}));
}

Result<void> ConnectionState::set_type_of_service(std::uint8_t octet) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    Policy changed = *policy_;
    changed.startup.type_of_service = octet;
    policy_ = std::make_shared<const Policy>(changed);
    stream = stream_;
  }
  if (!stream) return {};
  const auto error = stream->set_type_of_service(octet);
  return error ? fail(Errc::kSystem, "octet", "cannot be set", error.value()) : Result<void>();
}

Result<int> ConnectionState::duplicate_listener() const {
  const std::lock_guard lock(mutex_);
  if (!listening_ || !listening_->listener) return fail(Errc::kInvalidState, "connection", "does not listen");
  const int copy = ::fcntl(listening_->listener->descriptor(), F_DUPFD_CLOEXEC, transport::kFirstOwnDescriptor);
  if (copy < 0) return fail(Errc::kSystem, "connection", "cannot duplicate its socket", errno);
  return copy;
}

std::size_t ConnectionState::tcp_info(MutableBytes into) const {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    stream = stream_;
  }
  return stream ? stream->tcp_info(into) : 0;
}

std::optional<PeerIdentity> ConnectionState::peer_identity() const {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    stream = stream_;
  }
  return stream ? stream->identity() : std::nullopt;
}

}  // namespace weft::verbs::detail
