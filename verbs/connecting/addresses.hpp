// SPDX-License-Identifier: Apache-2.0
// The local and remote address of a connection identifier. Until it listens or connects, a socket reserves the local
// address, and the port if there is one. Not thread-safe.
#pragma once

#include <cstdint>
#include <expected>
#include <system_error>
#include <utility>

#include "transport/bound_socket.hpp"
#include "transport/endpoint.hpp"

namespace weft::verbs::detail {

class Addresses {
 public:
  using Address = transport::Address;
  using Endpoint = transport::Endpoint;
  using Options = transport::AddressOptions;
  // Selects when an address without a port gets one: now, or by the first call that needs it. Most programs that
  // connect never need it.
  enum class Port : bool { kNow, kLater };

  // --- Before there is a connection. An error leaves all as it was.
  [[nodiscard]] std::error_code set_options(const Options& options);
  [[nodiscard]] std::error_code bind(const Endpoint& local, Port port);
  // The address of a socket that is bound already. Takes over the descriptor.
  [[nodiscard]] std::error_code adopt(int descriptor);
  // The address from which the destination is reached.
  [[nodiscard]] std::expected<Address, std::error_code> resolve(const Endpoint& destination);
  [[nodiscard]] bool of_one_family(const Address& destination) const noexcept {
    return local_.address.is_any() || local_.address.family == destination.family;
  }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  // 0: none yet.
  [[nodiscard]] std::uint16_t reserved_port() const noexcept {
    return reserved_.is_open() ? reserved_.local().port : std::uint16_t{0};
  }

  // --- The reserved socket goes to a listener or a connector, or ends.
  [[nodiscard]] transport::BoundSocket take_reserved() noexcept { return std::exchange(reserved_, {}); }
  void give_back(transport::BoundSocket reserved) noexcept { reserved_ = std::move(reserved); }

  // --- Of a connection
  void set_local(const Endpoint& local) noexcept { local_ = local; }
  void set_remote(const Endpoint& remote) noexcept { remote_ = remote; }
  [[nodiscard]] const Endpoint& local() const noexcept { return local_; }
  // Picks the port, if it is reserved without one.
  [[nodiscard]] const Endpoint& local_with_port() noexcept;
  [[nodiscard]] const Endpoint& remote() const noexcept { return remote_; }

 private:
  [[nodiscard]] std::expected<Address, std::error_code> reserve_towards(const Address& destination);

  Options options_{};
  Endpoint local_{};
  Endpoint remote_{};
  transport::BoundSocket reserved_;  // keeps what local_ says
};

}  // namespace weft::verbs::detail
