// SPDX-License-Identifier: Apache-2.0
#include "transport/connector.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <optional>
#include <utility>

#include "transport/detail/callback_gate.hpp"
#include "transport/detail/last_error.hpp"
#include "transport/detail/reactor_state.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {

namespace asio = boost::asio;

namespace {

using ConnectResult = std::expected<Socket, std::error_code>;

// A connect to a free port of this host may pick that very port as its own and meet itself.
bool met_itself(const Socket& socket) {
  const auto local = socket.local();
  return local && local == socket.peer();
}

std::error_code met_itself_error() noexcept { return std::make_error_code(std::errc::connection_refused); }

ConnectResult finish(Socket socket) {
  if (const auto error = socket.pending_error()) return std::unexpected(error);
  if (met_itself(socket)) return std::unexpected(met_itself_error());
  return socket;
}

}  // namespace

std::expected<ConnectBegun, std::error_code> begin_connect(BoundSocket from, const Endpoint& remote,
                                                           const ConnectOptions& options) {
  sockaddr_storage storage{};
  const socklen_t length = remote.to_sockaddr(storage);
  if (!from.is_open() && options.local) {
    auto bound = options.local->port == 0 ? BoundSocket::at_address(options.local->address)
                                          : BoundSocket::bind(*options.local, {.reuse = true});
    if (!bound) return std::unexpected(bound.error());
    from = std::move(*bound);
  }
  const int descriptor =
      from.is_open() ? from.release()
                     : move_up(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (descriptor < 0) return std::unexpected(last_error());
  auto socket = Socket::own(descriptor);  // non-blocking and close-on-exec, both ways
  if (const auto error = socket.set_no_delay()) return std::unexpected(error);
  if (const auto error = socket.set(options.socket)) return std::unexpected(error);
  const int result = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&storage), length);
  if (result != 0 && errno != EINPROGRESS) return std::unexpected(last_error());
  const auto local = socket.local();
  if (!local) return std::unexpected(local.error());
  // The kernel always says EINPROGRESS here, for the answer waits until it lets go of the socket: so it is asked again.
  const auto peer = socket.peer();
  if (peer && local == peer) return std::unexpected(met_itself_error());
  return ConnectBegun{std::move(socket), *local, result == 0 || peer};
}

struct Connector::State : std::enable_shared_from_this<State> {
  State(Reactor& reactor, OnDone on_done)
      : gate(std::move(on_done)), watched(reactor.state().context), timer(reactor.state().context) {}

  detail::CallbackGate<ConnectResult> gate;
  asio::posix::stream_descriptor watched;  // borrows the descriptor of `socket` while it connects
  std::optional<asio::steady_timer> timer;
  Socket socket{};
  bool done = false;

  void wait(std::expected<ConnectBegun, std::error_code> begun, std::chrono::milliseconds timeout) {
    boost::system::error_code error;
    if (begun) watched.assign(begun->socket.descriptor(), error);
    if (!begun || error) return fail_soon(begun ? std::error_code(error) : begun.error());
    socket = std::move(begun->socket);
    watched.async_wait(asio::posix::stream_descriptor::wait_write,
                       [self = shared_from_this()](const boost::system::error_code& cancelled) {
                         if (!cancelled) self->complete({});
                       });
    timer->expires_after(timeout);
    timer->async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled) self->complete(std::make_error_code(std::errc::timed_out));
    });
  }

  // Never inside the constructor: the caller does not have the object yet.
  void fail_soon(std::error_code error) {
    asio::post(timer->get_executor(), [self = shared_from_this(), error] { self->complete(error); });
  }

  void complete(std::error_code error) {
    auto lock = gate.lock();
    if (!gate.is_open(lock) || std::exchange(done, true)) return;
    stop_waiting();
    ConnectResult result = error ? ConnectResult(std::unexpected(error)) : finish(std::move(socket));
    socket.close();
    gate.call(std::move(lock), std::move(result));
  }

  void stop_waiting() {
    if (watched.is_open()) watched.release();
    timer.reset();
  }
};

Connector::Connector(Reactor& reactor, const Endpoint& remote, const ConnectOptions& options, OnDone on_done)
    : Connector(reactor, BoundSocket(), remote, options, std::move(on_done)) {}

Connector::Connector(Reactor& reactor, BoundSocket from, const Endpoint& remote, const ConnectOptions& options,
                     OnDone on_done)
    : Connector(reactor, begin_connect(std::move(from), remote, options), options.timeout, std::move(on_done)) {}

Connector::Connector(Reactor& reactor, std::expected<ConnectBegun, std::error_code> begun,
                     std::chrono::milliseconds timeout, OnDone on_done)
    : state_(std::make_shared<State>(reactor, std::move(on_done))) {
  const auto lock = state_->gate.lock();
  state_->wait(std::move(begun), timeout);
}

Connector::~Connector() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  state_->stop_waiting();
  state_->socket.close();
  state_->gate.close(std::move(lock));
}

Connector::Connector(Connector&&) noexcept = default;

Connector& Connector::operator=(Connector&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

}  // namespace weft::transport
