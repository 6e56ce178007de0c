// SPDX-License-Identifier: Apache-2.0
/// @file
/// TCP sockets that are bound to a local address and do not listen or connect yet.
#pragma once

#include <expected>
#include <optional>
#include <system_error>
#include <utility>

#include "transport/endpoint.hpp"

namespace weft::transport {

/// Specifies how a local address is bound.
struct AddressOptions {
  /// Lets other sockets bind the port too, until one of them listens (SO_REUSEADDR).
  /// Past connections in TIME_WAIT never prevent a bind, whatever the value.
  bool reuse = false;
  /// Restricts an IPv6 wildcard to IPv6 (IPV6_V6ONLY). Default: the setting of the system.
  std::optional<bool> ipv6_only{};
  /// Compares all members.
  bool operator==(const AddressOptions&) const = default;
};

/// Owns a TCP socket with a local address. The port, once there is one, stays reserved for the owner, also when a
/// Listener or Connector takes over the socket. Not thread-safe.
class BoundSocket {
 public:
  /// Binds a socket to an address and a port. Port 0 selects a free one.
  [[nodiscard]] static std::expected<BoundSocket, std::error_code> bind(const Endpoint& at,
                                                                        const AddressOptions& options = {});
  /// Binds a socket to an address without a port.
  /// Unless pick_port() is called, the system selects the port when the socket connects. It then knows the peer, and
  /// finds a port in a fraction of the time.
  [[nodiscard]] static std::expected<BoundSocket, std::error_code> at_address(const Address& at,
                                                                              const AddressOptions& options = {});
  /// Opens a socket without an address.
  [[nodiscard]] static std::expected<BoundSocket, std::error_code> open(Family family,
                                                                        const AddressOptions& options = {});
  /// Takes over a TCP socket that has an address and a port, and may already listen. The descriptor is closed if it
  /// fails.
  [[nodiscard]] static std::expected<BoundSocket, std::error_code> own(int descriptor);
  /// Creates an object without a socket.
  BoundSocket() = default;
  /// Closes the socket.
  ~BoundSocket();
  /// Takes over the socket of another object.
  BoundSocket(BoundSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), local_(other.local_) {}
  /// Exchanges the sockets of both objects.
  BoundSocket& operator=(BoundSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(local_, other.local_);
    return *this;
  }

  /// Returns whether there is a socket.
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Returns the descriptor, which remains owned by this object; -1 without a socket.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Returns the local address and port; port 0 if there is no port yet.
  [[nodiscard]] const Endpoint& local() const noexcept { return local_; }
  /// Binds a socket without an address to `at`, as at_address() does.
  std::error_code take_address(const Address& at) noexcept;
  /// Reserves a free port, unless there is a port already. If it fails, local() does not change.
  std::error_code pick_port() noexcept;
  /// Changes AddressOptions::reuse of the socket.
  void allow_reuse(bool on) noexcept;
  /// Returns a socket with the same port at another address or with other options.
  /// The port is never free in between, so no other process can take it. If it fails, this object does not change.
  [[nodiscard]] std::expected<BoundSocket, std::error_code> again(const Address& at, const AddressOptions& options);

  /// Transfers the ownership of the descriptor to the caller.
  /// From then on, connections of the socket in TIME_WAIT do not keep others from the port.
  [[nodiscard]] int release() noexcept;

 private:
  std::error_code ask_local() noexcept;

  int descriptor_ = -1;
  Endpoint local_{};
};

}  // namespace weft::transport
