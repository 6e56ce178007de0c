// SPDX-License-Identifier: Apache-2.0
#include "transport/listener.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "transport/detail/accept_error.hpp"
#include "transport/detail/callback_gate.hpp"
#include "transport/detail/last_error.hpp"
#include "transport/detail/reactor_state.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {

namespace asio = boost::asio;

namespace {

using AcceptResult = std::expected<Socket, std::error_code>;

constexpr auto kPauseWithoutResources = std::chrono::milliseconds(100);
constexpr auto kPauseWithoutMemory = std::chrono::milliseconds(10);
constexpr int kAcceptsInARow = 8;  // then the thread's connections get their turn

// Linux gives an accepted socket what the listening one has: so it is said once, and not with each connection.
std::error_code prepare(Socket& listening, const SocketOptions& options) {
  if (const auto error = listening.set_no_delay()) return error;
  return listening.set(options);
}

}  // namespace

struct Listener::State : std::enable_shared_from_this<State> {
  State(Reactor& reactor, ReadinessThread& serves, OnAccept on_accept, const ListenOptions& wanted)
      : gate(std::move(on_accept)), thread(serves), pause(reactor.state().context), options(wanted) {}

  detail::CallbackGate<AcceptResult> gate;
  ReadinessThread& thread;
  Socket listening{};
  std::uint64_t token = 0;  // in the thread
  std::optional<asio::steady_timer> pause;
  const ListenOptions options;
  bool full = false;     // `room` said 0
  bool pausing = false;  // for want of descriptors
  Endpoint local{};

  AcceptResult accept_one() {
    const int descriptor = move_up(accept4(listening.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (descriptor < 0) return std::unexpected(last_error());
    auto socket = Socket::own(descriptor);
    // All others it has from the listener. Of a wildcard's, IPv4 and IPv6 have one each.
    if (const auto error = socket.set({.type_of_service = options.socket.type_of_service}))
      return std::unexpected(error);
    return socket;
  }

  std::error_code begin() {
    const auto lock = gate.lock();
    const auto visit = thread.visit(listening, [self = shared_from_this()] { self->come(); });
    if (visit) token = *visit;
    return visit ? std::error_code{} : visit.error();
  }

  // Goes on accepting, in the thread, unless `stopped` was not set.
  void go_on(bool& stopped) {
    const auto lock = gate.lock();
    if (gate.is_open(lock) && std::exchange(stopped, false)) thread.call_again(listening, token);
  }

  void make_a_pause() {
    const auto lock = gate.lock();
    if (!gate.is_open(lock)) return;
    pause->expires_after(kPauseWithoutResources);
    pause->async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled) self->go_on(self->pausing);
    });
    pausing = true;
  }

  // The connection at hand is closed; those after it wait for better times.
  void run_out_of_memory() {
    try {
      make_a_pause();
    } catch (const std::bad_alloc&) {  // not even for that
      std::this_thread::sleep_for(kPauseWithoutMemory);
      const auto lock = gate.lock();
      if (gate.is_open(lock)) thread.call_again(listening, token);
    }
  }

  void come() {
    try {
      accept_some();
    } catch (const std::bad_alloc&) {
      run_out_of_memory();
    }
  }

  // What may be accepted in this turn. 0 when nothing may for now.
  int begin_turn() {
    const auto lock = gate.lock();
    if (!gate.is_open(lock) || pausing) return 0;
    const int room = options.room ? options.room() : kAcceptsInARow;
    full = room <= 0;
    return std::min(room, kAcceptsInARow);
  }

  void accept_some() {
    const int most = begin_turn();
    for (int i = 0; i < most; ++i) {
      auto lock = gate.lock();
      if (!gate.is_open(lock) || pausing) return;
      auto accepted = accept_one();
      const std::error_code error = accepted ? std::error_code{} : accepted.error();
      if (error == std::errc::operation_would_block) return;
      if (is_of_one_connection(error.value())) continue;
      if (error) {
        lock.unlock();
        if (options.make_room && options.make_room()) continue;
        lock = gate.lock();
      }
      if (!gate.call(std::move(lock), std::move(accepted))) return;
      if (error) return make_a_pause();  // the connection is still queued: without a pause this would spin
    }
    const auto lock = gate.lock();
    if (most > 0 && gate.is_open(lock)) thread.call_again(listening, token);
  }
};

Listener::Listener(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

std::expected<Listener, std::error_code> Listener::create(Reactor& reactor, ReadinessThread& thread, const Endpoint& at,
                                                          const ListenOptions& options, OnAccept on_accept) {
  auto bound = BoundSocket::bind(at);
  if (!bound) return std::unexpected(bound.error());
  return create(reactor, thread, *bound, options, std::move(on_accept));
}

std::expected<Listener, std::error_code> Listener::create(Reactor& reactor, ReadinessThread& thread, BoundSocket& at,
                                                          const ListenOptions& options, OnAccept on_accept) {
  if (const auto error = at.pick_port()) return std::unexpected(error);
  at.allow_reuse(true);  // what old connections have left of the port does not count, as in bind()
  auto state = std::make_shared<State>(reactor, thread, std::move(on_accept), options);
  state->local = at.local();
  state->listening = Socket::own(at.descriptor());
  // The type of service: the answer to a SYN carries it too; accepted sockets are given it again.
  auto error = prepare(state->listening, options.socket);
  if (!error && ::listen(at.descriptor(), options.backlog) != 0) error = last_error();
  if (!error) error = state->begin();
  if (error) {
    static_cast<void>(state->listening.release());  // the caller keeps it
    return std::unexpected(error);
  }
  static_cast<void>(at.release());
  return Listener(std::move(state));
}

std::expected<Listener, std::error_code> Listener::create(Reactor& reactor, ReadinessThread& thread, Socket listening,
                                                          const Endpoint& local, const ListenOptions& options,
                                                          OnAccept on_accept) {
  auto state = std::make_shared<State>(reactor, thread, std::move(on_accept), options);
  state->local = local;
  state->listening = std::move(listening);
  if (const auto error = state->begin()) return std::unexpected(error);
  return Listener(std::move(state));
}

Listener::~Listener() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  state_->thread.leave(state_->listening, state_->token);
  state_->listening.close();
  state_->pause.reset();
  state_->gate.close(std::move(lock));
}

Listener::Listener(Listener&&) noexcept = default;

Listener& Listener::operator=(Listener&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void Listener::resume() { state_->go_on(state_->full); }

int Listener::descriptor() const noexcept { return state_->listening.descriptor(); }

bool Listener::takes_ipv4() const noexcept {
  const Address& address = state_->local.address;
  if (address.family != Family::kIpv6 || !address.is_any()) return false;
  int only = 0;
  socklen_t length = sizeof only;
  return ::getsockopt(descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &only, &length) == 0 && only == 0;
}

const Endpoint& Listener::local() const noexcept { return state_->local; }

void Listener::leave_to_parent(int nowhere) noexcept {
  if (nowhere >= 0) ::dup3(nowhere, state_->listening.descriptor(), O_CLOEXEC);
}

}  // namespace weft::transport
