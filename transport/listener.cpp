// SPDX-License-Identifier: Apache-2.0
#include "transport/listener.hpp"

#include <fcntl.h>
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

namespace weft::transport {

namespace asio = boost::asio;

namespace {

using AcceptResult = std::expected<Socket, std::error_code>;

constexpr auto kPauseWithoutResources = std::chrono::milliseconds(100);
constexpr int kAcceptsInARow = 32;  // then other callbacks get their turn

// Linux gives an accepted socket what the listening one has: so it is said once, and not with each connection.
std::error_code prepare(int listening, const SocketOptions& options) {
  Socket borrowed = Socket::own(listening);
  auto error = borrowed.set_no_delay();
  if (!error) error = borrowed.set(options);
  static_cast<void>(borrowed.release());
  return error;
}

}  // namespace

struct Listener::State : std::enable_shared_from_this<State> {
  State(Reactor& reactor, OnAccept on_accept, const ListenOptions& wanted)
      : gate(std::move(on_accept)),
        listening(reactor.state().context),
        pause(reactor.state().context),
        options(wanted) {}

  detail::CallbackGate<AcceptResult> gate;
  asio::posix::stream_descriptor listening;
  std::optional<asio::steady_timer> pause;
  const ListenOptions options;
  bool full = false;  // has_room said no
  Endpoint local{};

  AcceptResult accept_one() {
    const int descriptor = accept4(listening.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return std::unexpected(last_error());
    auto socket = Socket::own(descriptor);
    // All others it has from the listener. Of a wildcard's, IPv4 and IPv6 have one each.
    if (const auto error = socket.set({.type_of_service = options.socket.type_of_service}))
      return std::unexpected(error);
    return socket;
  }

  // Goes on accepting when that which it was given to has happened.
  auto resume() {
    return [self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled) self->accept_some();
    };
  }

  void arm() {
    const auto lock = gate.lock();
    if (gate.is_open(lock)) listening.async_wait(asio::posix::stream_descriptor::wait_read, resume());
  }

  void go_on() {
    {
      const auto lock = gate.lock();
      if (!gate.is_open(lock) || !std::exchange(full, false)) return;
    }
    accept_some();
  }

  void arm_after_pause() {
    const auto lock = gate.lock();
    if (!gate.is_open(lock)) return;
    pause->expires_after(kPauseWithoutResources);
    pause->async_wait(resume());
  }

  void accept_some() {
    for (int i = 0; i < kAcceptsInARow; ++i) {
      auto lock = gate.lock();
      if (!gate.is_open(lock)) return;
      full = options.has_room && !options.has_room();
      if (full) return;
      auto accepted = accept_one();
      const std::error_code error = accepted ? std::error_code{} : accepted.error();
      if (error == std::errc::operation_would_block) break;
      if (is_transient(error)) continue;
      if (!gate.call(std::move(lock), std::move(accepted))) return;
      if (error) return arm_after_pause();  // the connection is still queued: without a pause this would spin
    }
    arm();
  }

  // Errors that belong to one connection, lost before it was accepted (accept(2) lists them); the next may be well.
  static bool is_transient(const std::error_code& error) {
    switch (error.value()) {
      case EINTR:
      case ECONNABORTED:
      case EPERM:  // a firewall's refusal
      case EPROTO:
      case ENOPROTOOPT:
      case EOPNOTSUPP:
      case ENONET:
      case ENETDOWN:
      case ENETUNREACH:
      case EHOSTDOWN:
      case EHOSTUNREACH: return true;
      default: return false;
    }
  }
};

Listener::Listener(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

std::expected<Listener, std::error_code> Listener::create(Reactor& reactor, const Endpoint& at,
                                                          const ListenOptions& options, OnAccept on_accept) {
  auto bound = BoundSocket::bind(at);
  if (!bound) return std::unexpected(bound.error());
  return create(reactor, *bound, options, std::move(on_accept));
}

// Not asio::ip::tcp::acceptor: it does not open with SOCK_CLOEXEC, and a child could inherit the port.
std::expected<Listener, std::error_code> Listener::create(Reactor& reactor, BoundSocket& at,
                                                          const ListenOptions& options, OnAccept on_accept) {
  at.allow_reuse(true);  // what old connections have left of the port does not count, as in bind()
  // The type of service: the answer to a SYN carries it too; accepted sockets are given it again.
  if (const auto error = prepare(at.descriptor(), options.socket)) return std::unexpected(error);
  if (::listen(at.descriptor(), options.backlog) != 0) return std::unexpected(last_error());
  auto state = std::make_shared<State>(reactor, std::move(on_accept), options);
  state->local = at.local();
  boost::system::error_code failed;
  state->listening.assign(at.descriptor(), failed);
  if (failed) return std::unexpected(std::error_code(failed));
  static_cast<void>(at.release());
  state->arm();
  return Listener(std::move(state));
}

Listener::~Listener() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  boost::system::error_code ignored;
  state_->listening.close(ignored);
  state_->pause.reset();
  state_->gate.close(std::move(lock));
}

Listener::Listener(Listener&&) noexcept = default;

Listener& Listener::operator=(Listener&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

// Never in the caller's thread: callbacks come from the reactor's alone.
void Listener::resume() {
  asio::post(state_->listening.get_executor(), [state = state_] { state->go_on(); });
}

const Endpoint& Listener::local() const noexcept { return state_->local; }

void Listener::leave_to_parent(int nowhere) noexcept {
  if (nowhere >= 0) ::dup3(nowhere, state_->listening.native_handle(), O_CLOEXEC);
}

}  // namespace weft::transport
