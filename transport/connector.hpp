// SPDX-License-Identifier: Apache-2.0
// One attempt to establish a TCP connection.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>

#include "transport/bound_socket.hpp"
#include "transport/reactor.hpp"
#include "transport/socket.hpp"

namespace weft::transport {

struct ConnectOptions {
  std::optional<Endpoint> local{};           // bind to it first; port 0 takes any free port
  std::chrono::milliseconds timeout{10000};  // then std::errc::timed_out
  SocketOptions socket{};
};

// A connect that was begun: over loopback, and wherever the system is quick, it is done within the call.
struct ConnectBegun {
  Socket socket{};
  Endpoint local{};  // has its port now, if it had none before
  bool connected = false;
};
// Without waiting, in the calling thread. `from`: bound before, or none; when it is open, options.local does not count.
[[nodiscard]] std::expected<ConnectBegun, std::error_code> begin_connect(BoundSocket from, const Endpoint& remote,
                                                                         const ConnectOptions& options);

// The rules of all reactor objects are in transport/reactor.hpp.
class Connector {
 public:
  using OnDone = std::move_only_function<void(std::expected<Socket, std::error_code>)>;

  // Calls `on_done` exactly once, for every kind of failure too, unless it is destroyed before.
  Connector(Reactor& reactor, const Endpoint& remote, const ConnectOptions& options, OnDone on_done);
  // From an address that was bound before; options.local does not count.
  Connector(Reactor& reactor, BoundSocket from, const Endpoint& remote, const ConnectOptions& options, OnDone on_done);
  // Of what begin_connect() has begun, or has failed with.
  Connector(Reactor& reactor, std::expected<ConnectBegun, std::error_code> begun, std::chrono::milliseconds timeout,
            OnDone on_done);
  ~Connector();  // abandons the attempt
  Connector(Connector&&) noexcept;
  Connector& operator=(Connector&&) noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
