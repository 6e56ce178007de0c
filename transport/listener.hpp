// SPDX-License-Identifier: Apache-2.0
// Accepts TCP connections at an endpoint.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <system_error>

#include "transport/reactor.hpp"
#include "transport/socket.hpp"

namespace weft::transport {

struct ListenOptions {
  int backlog = 128;
  SocketOptions socket{};  // of the accepted sockets
};

// The rules of all reactor objects are in transport/reactor.hpp.
class Listener {
 public:
  // An accepted socket, or an error that does not end the listener (too many open files: it tries again after a pause).
  using OnAccept = std::move_only_function<void(std::expected<Socket, std::error_code>)>;

  // Port 0 takes any free port. An IPv6 wildcard listens for IPv4 too. Connections wait until run() serves them.
  [[nodiscard]] static std::expected<Listener, std::error_code> create(Reactor& reactor, const Endpoint& at,
                                                                       const ListenOptions& options,
                                                                       OnAccept on_accept);
  ~Listener();  // connections not yet accepted are reset
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;

  [[nodiscard]] const Endpoint& local() const noexcept;  // with the real port

 private:
  struct State;
  explicit Listener(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
