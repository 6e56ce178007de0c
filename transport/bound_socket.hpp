// SPDX-License-Identifier: Apache-2.0
// A TCP socket that has a local address and has not begun to listen or to connect. Once it has a port, the port is its
// owner's, and stays so when a Listener or Connector takes the socket over.
#pragma once

#include <expected>
#include <optional>
#include <system_error>
#include <utility>

#include "transport/endpoint.hpp"

namespace weft::transport {

struct AddressOptions {
  // Others may bind the port too, until one of them listens (SO_REUSEADDR). What connections of the past have left of a
  // port (TIME_WAIT) is no hindrance in any case.
  bool reuse = false;
  std::optional<bool> ipv6_only{};  // whether an IPv6 wildcard is for IPv6 alone (IPV6_V6ONLY); default: the system's
  bool operator==(const AddressOptions&) const = default;
};

class BoundSocket {
 public:
  // Port 0 takes a free one.
  [[nodiscard]] static std::expected<BoundSocket, std::error_code> bind(const Endpoint& at,
                                                                        const AddressOptions& options = {});
  // The address alone. Unless pick_port() is called before, the system picks the port when it connects: it knows the
  // peer then, and finds one in a fraction of the time.
  [[nodiscard]] static std::expected<BoundSocket, std::error_code> at_address(const Address& at,
                                                                              const AddressOptions& options = {});
  // No address yet.
  [[nodiscard]] static std::expected<BoundSocket, std::error_code> open(Family family,
                                                                        const AddressOptions& options = {});
  BoundSocket() = default;  // none
  ~BoundSocket();
  BoundSocket(BoundSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), local_(other.local_) {}
  BoundSocket& operator=(BoundSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(local_, other.local_);
    return *this;
  }

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  // With the real port; port 0: none yet.
  [[nodiscard]] const Endpoint& local() const noexcept { return local_; }
  // As at_address(), of one that has none.
  std::error_code take_address(const Address& at) noexcept;
  // A free one, unless it has one. local() is as before when that fails.
  std::error_code pick_port() noexcept;
  void allow_reuse(bool on) noexcept;
  // The same port at another address, or with other options, and no moment in between in which another process could
  // take it. This one stays as it is when that fails.
  [[nodiscard]] std::expected<BoundSocket, std::error_code> again(const Address& at, const AddressOptions& options);

  // Gives the descriptor away. From here on TIME_WAIT of its connections does not keep others from the port.
  [[nodiscard]] int release() noexcept;

 private:
  std::error_code ask_local() noexcept;

  int descriptor_ = -1;
  Endpoint local_{};
};

}  // namespace weft::transport
