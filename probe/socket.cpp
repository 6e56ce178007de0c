// SPDX-License-Identifier: Apache-2.0
#include "probe/socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "transport/system_words.hpp"

namespace weft::probe {
namespace {

// Until `events` or the deadline.
bool wait_for(int descriptor, short events, Instant deadline) noexcept {
  for (;;) {
    const Duration left = deadline - now();
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd waiting{.fd = descriptor, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, 1'000'000)));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // the call that follows tells
  }
}

transport::Endpoint endpoint_by(int descriptor, decltype(::getsockname)* name) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (name(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return transport::Endpoint::from_sockaddr(reinterpret_cast<sockaddr*>(&storage), size)
      .value_or(transport::Endpoint{});
}

int new_socket(transport::Family family) noexcept {
  const int domain = family == transport::Family::kIpv4 ? AF_INET : AF_INET6;
  return ::socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
}

void set(int descriptor, int level, int option, int value) noexcept {
  static_cast<void>(::setsockopt(descriptor, level, option, &value, sizeof value));
}

std::string words_of(int error) { return system_words(error); }

std::unexpected<std::string> unreachable(const transport::Endpoint& peer, int error) {
  if (error == ECONNREFUSED) return std::unexpected("nobody listens at " + peer.to_string());
  return std::unexpected(peer.to_string() + " cannot be reached: " + words_of(error));
}

}  // namespace

Instant now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return {std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)};
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket::Got Socket::receive(std::vector<std::byte>& octets, Instant deadline) {
  std::array<std::byte, 1 << 16> some;
  for (;;) {
    if (descriptor_ < 0) return Got::kReset;
    const auto got = ::recv(descriptor_, some.data(), some.size(), 0);
    if (got > 0) {
      octets.insert(octets.end(), some.begin(), some.begin() + got);
      return Got::kOctets;
    }
    if (got == 0) return Got::kFin;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Got::kReset;
    if (!wait_for(descriptor_, POLLIN, deadline)) return Got::kNothing;
  }
}

bool Socket::send(Bytes octets, Instant deadline) {
  while (!octets.empty()) {
    const auto sent = ::send(descriptor_, octets.data(), octets.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      octets = octets.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(descriptor_, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Socket::is_over() const noexcept {
  pollfd state{.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
  return ::poll(&state, 1, 0) > 0;
}
void Socket::shut() noexcept { ::shutdown(descriptor_, SHUT_WR); }

void Socket::reset() noexcept {
  if (descriptor_ < 0) return;
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  static_cast<void>(::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  ::close(descriptor_);
  descriptor_ = -1;
}

void Socket::segment_at_most(int octets) noexcept { set(descriptor_, IPPROTO_TCP, TCP_MAXSEG, octets); }
void Socket::window_of(int octets) noexcept { set(descriptor_, SOL_SOCKET, SO_RCVBUF, octets); }
std::size_t Socket::unacknowledged() const noexcept {
  int octets = 0;
  return ::ioctl(descriptor_, SIOCOUTQ, &octets) == 0 ? static_cast<std::size_t>(octets) : 0;
}
transport::Endpoint Socket::local() const { return endpoint_by(descriptor_, ::getsockname); }
transport::Endpoint Socket::remote() const { return endpoint_by(descriptor_, ::getpeername); }

std::expected<std::unique_ptr<Socket>, std::string> connect_to(const transport::Endpoint& peer, Instant deadline,
                                                               const SocketWish& wish) {
  const int descriptor = new_socket(peer.address.family);
  if (descriptor < 0) return std::unexpected("no socket: " + words_of(errno));
  auto socket = std::make_unique<Socket>(descriptor);
  set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  if (wish.segment) socket->segment_at_most(*wish.segment);
  if (wish.window) socket->window_of(*wish.window);
  sockaddr_storage storage{};
  const auto size = peer.to_sockaddr(storage);
  if (::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), size) == 0) return socket;
  if (errno != EINPROGRESS) return unreachable(peer, errno);
  if (!wait_for(descriptor, POLLOUT, deadline)) return unreachable(peer, ETIMEDOUT);
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return unreachable(peer, error);
  return socket;
}

std::expected<std::unique_ptr<ListeningSocket>, std::string> ListeningSocket::open(
    const transport::Endpoint& at, const std::optional<transport::Address>& from) {
  const int descriptor = new_socket(at.address.family);
  if (descriptor < 0) return std::unexpected("no socket: " + words_of(errno));
  auto listening = std::make_unique<ListeningSocket>(descriptor, from);
  set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
  sockaddr_storage storage{};
  const auto size = at.to_sockaddr(storage);
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&storage), size) != 0 || ::listen(descriptor, 1024) != 0)
    return std::unexpected("cannot listen at " + at.to_string() + ": " + words_of(errno));
  return listening;
}

ListeningSocket::~ListeningSocket() { ::close(descriptor_); }

transport::Endpoint ListeningSocket::local() const { return endpoint_by(descriptor_, ::getsockname); }

bool ListeningSocket::may_come(const transport::Address& address) {
  const std::scoped_lock lock(mutex_);
  if (!from_) from_ = address;
  return *from_ == address;
}

std::unique_ptr<Socket> ListeningSocket::accept(Instant deadline) {
  for (;;) {
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
      auto socket = std::make_unique<Socket>(descriptor);
      if (may_come(socket->remote().address)) return socket;
      socket->reset();
      if (now() >= deadline) return nullptr;
      continue;
    }
    if (errno == EAGAIN && !wait_for(descriptor_, POLLIN, deadline)) return nullptr;
    if (errno == EMFILE || errno == ENFILE) return nullptr;
  }
}

}  // namespace weft::probe
