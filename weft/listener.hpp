// SPDX-License-Identifier: Apache-2.0
/// @file
/// A listener.
#pragma once

#include <memory>

#include "weft/connection.hpp"

namespace weft {

namespace verbs {
struct Policy;
}

namespace detail {
struct Listening;
}

/// Listens for connections. Movable. All functions may be called concurrently, and each request goes to one caller; the
/// destructor and moves must not run concurrently with another call.
///
/// The destructor stops listening and rejects requests that next() has not returned. Connections are not affected.
class Listener {
 public:
  static constexpr int kDefaultBacklog = 128;  ///< default backlog of listen()

  /// Listens at a local address. `backlog` is the maximum of requests that wait for next(), at least 1. More requests
  /// wait in the kernel's queue of max(`backlog`, 1024) entries, capped by net.core.somaxconn (ConnectionId::listen(),
  /// verbs/connection.hpp). Choose a `backlog` above 1024 if more peers than that connect at once.
  /// Errors: Errc::kAddressInUse; kInvalidArgument if it is no address of this host, or `backlog` is less than 1.
  [[nodiscard]] static Result<Listener> listen(const Endpoint& at, int backlog = kDefaultBacklog);
  /// Listens with a policy (verbs/policy.hpp), which the connections inherit.
  [[nodiscard]] static Result<Listener> listen(const Endpoint& at, const verbs::Policy& policy,
                                               int backlog = kDefaultBacklog);
  Listener(Listener&&) noexcept;  ///< Takes over a listener. The other object can only be destroyed.
  /// Replaces this listener by `other`. The previous listener ends as by the destructor.
  Listener& operator=(Listener&& other) noexcept;
  /// Stops listening.
  ~Listener();

  /// Returns the local address with its port.
  [[nodiscard]] Endpoint local() const;
  /// Returns the identifier, for counts of requests and connections (ConnectionId::listen_counts()).
  [[nodiscard]] verbs::ConnectionId& id() noexcept;
  /// Returns the next request, whose peer_data() is valid: register memory and post receives as required, then call
  /// Connection::establish() or reject(). Destroying the connection also rejects the request.
  /// Errors: Errc::kTimedOut; the listener continues.
  [[nodiscard]] Result<Connection> next(Deadline deadline);
  /// Returns the next request, established: next(), then establish().
  [[nodiscard]] Result<Connection> accept(Deadline deadline, std::span<const std::byte> private_data = {});

 private:
  friend class AsioListener;
  [[nodiscard]] std::optional<Result<Connection>> try_next();
  [[nodiscard]] int event_descriptor() const noexcept;
  explicit Listener(std::unique_ptr<detail::Listening> state) noexcept;
  std::unique_ptr<detail::Listening> state_;
};

}  // namespace weft
