// SPDX-License-Identifier: Apache-2.0
// Accepts TCP connections at an endpoint.
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
  int backlog = 128;  // the kernel's queue: connections that wait to be accepted
  // How many more may be accepted before the thread's other sockets get their turn; never blocks, and calls nothing of
  // this object. After a 0 the rest wait in the kernel's queue, where nothing of them is kept here, until resume().
  std::function<int()> room{};
  // Asked when there is no descriptor for one of them. True: there is now.
  std::function<bool()> make_room{};
  SocketOptions socket{};  // of the accepted sockets
};

// The rules of all reactor objects are in transport/reactor.hpp; but its callbacks run in a readiness thread, which has
// to outlive it as well. That thread serves the connections, too: a socket that was accepted and whose octets come a
// moment later costs no second thread's waking. The reactor times the pauses.
class Listener {
 public:
  // May throw std::bad_alloc, which ends the connection at hand and makes a pause.
  // An accepted socket, or an error that does not end the listener (too many open files: it tries again after a pause).
  using OnAccept = std::move_only_function<void(std::expected<Socket, std::error_code>)>;

  // Port 0 takes any free port. An IPv6 wildcard listens for IPv4 too. Connections wait until the thread runs.
  [[nodiscard]] static std::expected<Listener, std::error_code> create(Reactor& reactor, ReadinessThread& thread,
                                                                       const Endpoint& at, const ListenOptions& options,
                                                                       OnAccept on_accept);
  // At an address that was bound before. `at` is taken when this succeeds; with reuse allowed, the port may have a
  // listener by now (address_in_use).
  [[nodiscard]] static std::expected<Listener, std::error_code> create(Reactor& reactor, ReadinessThread& thread,
                                                                       BoundSocket& at, const ListenOptions& options,
                                                                       OnAccept on_accept);
  ~Listener();  // connections not yet accepted are reset
  Listener(Listener&&) noexcept;
  Listener& operator=(Listener&&) noexcept;

  void resume();  // asks `room` again, if it said 0

  [[nodiscard]] const Endpoint& local() const noexcept;  // with the real port

  // In a child process after fork(): the socket's number becomes `nowhere`, so that the parent alone listens, and
  // nothing done here reaches the reactor that both share. The object itself has to be kept, for its locks may be held
  // by a thread that is not in this process.
  void leave_to_parent(int nowhere) noexcept;

 private:
  struct State;
  explicit Listener(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
