// SPDX-License-Identifier: Apache-2.0
#include "transport/blocking_socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>

#include "transport/bound_socket.hpp"
#include "transport/connector.hpp"
#include "transport/detail/accept_error.hpp"
#include "transport/detail/last_error.hpp"
#include "transport/poll_timeout.hpp"

namespace weft::transport {
namespace {

constexpr int kBacklog = 1024;

// Waits until the socket has one of `events`, or for the deadline. Returns false at the deadline.
bool wait_for(const Socket& socket, short events, Instant deadline) noexcept {
  const std::chrono::steady_clock::time_point until(deadline.since_epoch);
  for (;;) {
    pollfd waiting{.fd = socket.descriptor(), .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, poll_timeout(until));
    if (ready > 0) return true;
    if (ready == 0 && steady_now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return true;  // the call that follows reports the error
  }
}

}  // namespace

Instant steady_now() noexcept { return {std::chrono::steady_clock::now().time_since_epoch()}; }

std::expected<BlockingSocket, std::error_code> BlockingSocket::connect(const Endpoint& peer, Instant deadline,
                                                                       const SocketOptions& options) {
  auto begun = begin_connect({}, peer, {.socket = options});
  if (!begun) return std::unexpected(begun.error());
  BlockingSocket socket(begun->socket.release());
  if (begun->connected) return socket;
  if (!wait_for(socket, POLLOUT, deadline)) return std::unexpected(std::make_error_code(std::errc::timed_out));
  if (const auto error = socket.pending_error()) return std::unexpected(error);
  return socket;
}

BlockingSocket::Got BlockingSocket::receive(std::vector<std::byte>& octets, Instant deadline) {
  std::array<std::byte, 1 << 16> some;
  for (;;) {
    const IoResult got = read(some);
    switch (got.status) {
      case IoResult::Status::kWouldBlock:
        if (!wait_for(*this, POLLIN, deadline)) return Got::kNothing;
        continue;
      case IoResult::Status::kEndOfStream: return Got::kFin;
      case IoResult::Status::kMoved:
        octets.insert(octets.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got.octets));
        return Got::kOctets;
      default: return Got::kReset;
    }
  }
}

bool BlockingSocket::ends_by(Instant deadline) const noexcept { return wait_for(*this, POLLRDHUP, deadline); }

bool BlockingSocket::send(Bytes octets, Instant deadline) {
  while (!octets.empty()) {
    const IoResult sent = write({&octets, 1});
    if (sent.status == IoResult::Status::kLost) return false;
    if (sent.status == IoResult::Status::kWouldBlock && !wait_for(*this, POLLOUT, deadline)) return false;
    octets = octets.subspan(sent.octets);
  }
  return true;
}

std::expected<BlockingListener, std::error_code> BlockingListener::open(const Endpoint& at) {
  auto bound = BoundSocket::bind(at);
  if (!bound) return std::unexpected(bound.error());
  bound->allow_reuse(true);  // what old connections have left of the port does not count, as in bind()
  if (::listen(bound->descriptor(), kBacklog) != 0) return std::unexpected(last_error());
  const Endpoint local = bound->local();
  return BlockingListener(Socket::own(bound->release()), local);
}

std::optional<BlockingSocket> BlockingListener::accept(Instant deadline) const {
  for (;;) {
    const int descriptor = ::accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      BlockingSocket socket(descriptor);
      static_cast<void>(socket.set_no_delay());  // fails only if the connection is already gone
      return socket;
    }
    const int error = errno;
    const bool again = error == EAGAIN ? wait_for(socket_, POLLIN, deadline) : is_of_one_connection(error);
    if (!again) return std::nullopt;
  }
}

}  // namespace weft::transport
