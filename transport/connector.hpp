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
  std::optional<Endpoint> local{};           // bound first; port 0 selects a free port
  std::chrono::milliseconds timeout{10000};  // limit; then the error is std::errc::timed_out
  SocketOptions socket{};
};

// A connect that was started. Over loopback, and wherever the system is quick, it completes within the call.
struct ConnectBegun {
  Socket socket{};
  Endpoint local{};  // with its port, even if it had none before
  bool connected = false;
};
// Starts a connect in the calling thread without waiting. `from`: a bound socket, or none; if it is open, options.local
// is ignored.
[[nodiscard]] std::expected<ConnectBegun, std::error_code> begin_connect(BoundSocket from, const Endpoint& remote,
                                                                         const ConnectOptions& options);

// The rules of all reactor objects are in transport/reactor.hpp.
class Connector {
 public:
  using OnDone = std::move_only_function<void(std::expected<Socket, std::error_code>)>;

  // Calls `on_done` exactly once, also for every kind of failure, unless it is destroyed before.
  Connector(Reactor& reactor, const Endpoint& remote, const ConnectOptions& options, OnDone on_done);
  // Connects from a bound socket; options.local is ignored.
  Connector(Reactor& reactor, BoundSocket from, const Endpoint& remote, const ConnectOptions& options, OnDone on_done);
  // Continues what begin_connect() started, or reports its failure.
  Connector(Reactor& reactor, std::expected<ConnectBegun, std::error_code> begun, std::chrono::milliseconds timeout,
            OnDone on_done);
  // Cancels the attempt.
  ~Connector();
  Connector(Connector&&) noexcept;
  Connector& operator=(Connector&&) noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
