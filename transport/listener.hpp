// SPDX-License-Identifier: Apache-2.0
// Acceptance of TCP connections at an endpoint.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <system_error>

#include "transport/bound_socket.hpp"
#include "transport/reactor.hpp"
#include "transport/readiness_thread.hpp"
#include "transport/socket.hpp"

namespace weft::transport {

struct ListenOptions {
  int backlog = 128;  // length of the kernel's queue of connections that wait to be accepted
  // Returns how many more connections may be accepted before the other sockets of the thread are served. Must not block
  // or call this object. After it returns 0, the others wait in the kernel's queue until resume().
  std::function<int()> room{};
  // Called when no descriptor is available for a connection. Returns whether one is available now.
  std::function<bool()> make_room{};
  SocketOptions socket{};  // options of accepted sockets
};

// Follows the rules of transport/reactor.hpp, except that its callbacks run in a readiness thread, which must outlive
// it. That thread also serves the connections, so octets that arrive shortly after the accept wake no second thread.
// The reactor times the pauses.
class Listener {
 public:
  // Receives an accepted socket, or an error that does not end the listener (too many open files: it retries after a
  // pause). May throw std::bad_alloc, which ends the connection and starts a pause.
  using OnAccept = std::move_only_function<void(std::expected<Socket, std::error_code>)>;

  // Listens at an endpoint. Port 0 selects a free port. An IPv6 wildcard also accepts IPv4. Connections wait until the
  // thread runs.
  [[nodiscard]] static std::expected<Listener, std::error_code> create(Reactor& reactor, ReadinessThread& thread,
                                                                       const Endpoint& at, const ListenOptions& options,
                                                                       OnAccept on_accept);
  // Listens at a bound socket. `at` is consumed on success. With address reuse, another socket may listen at the port
  // by now (address_in_use).
  [[nodiscard]] static std::expected<Listener, std::error_code> create(Reactor& reactor, ReadinessThread& thread,
                                                                       BoundSocket& at, const ListenOptions& options,
                                                                       OnAccept on_accept);
  // Accepts at a socket that listens already, such as one of AF_UNIX; `local` is what local() returns.
  [[nodiscard]] static std::expected<Listener, std::error_code> create(Reactor& reactor, ReadinessThread& thread,
                                                                       Socket listening, const Endpoint& local,
                                                                       const ListenOptions& options,
                                                                       OnAccept on_accept);
  // Resets connections that were not accepted.
  ~Listener();
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;

  // Calls `room` again after it returned 0.
  void resume();

  // Returns the listening socket, which remains owned by this object.
  [[nodiscard]] int descriptor() const noexcept;

  // Returns whether an IPv6 wildcard also accepts IPv4.
  [[nodiscard]] bool takes_ipv4() const noexcept;

  // With the actual port.
  [[nodiscard]] const Endpoint& local() const noexcept;

  // In a child process after fork(): replaces the socket by `nowhere`, so that only the parent listens, and nothing
  // done here affects the reactor that both share. The object itself must not be destroyed, because a thread that does
  // not exist in this process may hold its locks.
  void leave_to_parent(int nowhere) noexcept;

 private:
  struct State;
  explicit Listener(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
