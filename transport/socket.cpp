// SPDX-License-Identifier: Apache-2.0
#include "transport/socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "transport/detail/last_error.hpp"
#include "transport/detail/socket_name.hpp"
#include "transport/detail/system_calls.hpp"

namespace weft::transport {
namespace {

std::error_code set_option(int descriptor, int level, int name, int value) noexcept {
  return setsockopt(descriptor, level, name, &value, sizeof value) == 0 ? std::error_code{} : last_error();
}

IoResult failed() noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {.status = IoResult::Status::kWouldBlock};
  return {.status = IoResult::Status::kLost, .error = last_error()};
}

IoResult of_read(ssize_t got) noexcept {
  if (got < 0) return failed();
  if (got == 0) return {.status = IoResult::Status::kEndOfStream};
  return {.status = IoResult::Status::kMoved, .octets = static_cast<std::size_t>(got)};
}

std::error_code set_flags(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return last_error();
  if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) return last_error();
  return {};
}

std::error_code set_keepalive(int descriptor, const KeepAlive& keepalive) noexcept {
  const std::array<std::array<int, 3>, 4> settings{{
      {IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(keepalive.idle.count())},
      {IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(keepalive.interval.count())},
      {IPPROTO_TCP, TCP_KEEPCNT, keepalive.probes},
      {SOL_SOCKET, SO_KEEPALIVE, 1},
  }};
  for (const auto& [level, name, value] : settings) {
    if (const auto error = set_option(descriptor, level, name, value)) return error;
  }
  return {};
}

std::error_code set_congestion_control(int descriptor, const std::string& name) noexcept {
  const auto size = static_cast<socklen_t>(name.size());
  return setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), size) == 0 ? std::error_code{} : last_error();
}

}  // namespace

// The kernel would cut a longer name short.
std::error_code check_congestion_control(const std::string& name) noexcept {
  constexpr std::size_t kLongest = 15;  // its TCP_CA_NAME_MAX, without the octet that ends a name
  if (name.size() > kLongest) return std::make_error_code(std::errc::no_such_file_or_directory);
  const Socket scratch = Socket::own(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  return scratch.is_open() ? set_congestion_control(scratch.descriptor(), name) : last_error();
}

// An IPv6 socket may carry IPv4 (a wildcard listener's do), so it gets both.
std::error_code set_type_of_service(int descriptor, std::uint8_t octet) noexcept {
  int family = AF_INET;
  socklen_t length = sizeof family;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0) return last_error();
  const auto v4 = set_option(descriptor, IPPROTO_IP, IP_TOS, octet);
  return family == AF_INET6 ? set_option(descriptor, IPPROTO_IPV6, IPV6_TCLASS, octet) : v4;
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

std::expected<Socket, std::error_code> Socket::adopt(int descriptor) {
  Socket socket(descriptor);
  if (const auto error = set_flags(descriptor)) return std::unexpected(error);
  if (const auto error = socket.set_no_delay()) return std::unexpected(error);
  return socket;
}

// Without it a small message waits for the acknowledgement of the one before: 40 ms instead of microseconds.
std::error_code Socket::set_no_delay() noexcept { return set_option(descriptor_, IPPROTO_TCP, TCP_NODELAY, 1); }

IoResult Socket::read(MutableBytes into) noexcept {
  if (into.empty()) return {.status = IoResult::Status::kMoved};  // recv would return 0, which means end of stream
  ssize_t got = 0;
  do {
    got = receive(descriptor_, into, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return of_read(got);
}

IoResult Socket::read(MutableBytes first, MutableBytes second) noexcept {
  std::array<iovec, 2> places{{{first.data(), first.size()}, {second.data(), second.size()}}};
  msghdr message{};
  message.msg_iov = places.data();
  message.msg_iovlen = places.size();
  ssize_t got = 0;
  do {
    got = receive(descriptor_, message, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return of_read(got);
}

IoResult Socket::peek(MutableBytes into) noexcept {
  ssize_t got = 0;
  do {
    got = receive(descriptor_, into, MSG_DONTWAIT | MSG_PEEK);
  } while (got < 0 && errno == EINTR);
  return of_read(got);
}

IoResult Socket::write(std::span<const Bytes> pieces) noexcept {
  if (pieces.size() == 1) return write_one(pieces.front());
  std::array<iovec, kMaxPieces> vector;  // not initialised: only the front is used
  const std::size_t count = std::min(pieces.size(), kMaxPieces);
  for (std::size_t i = 0; i < count; ++i) {
    vector[i] = {.iov_base = const_cast<std::byte*>(pieces[i].data()), .iov_len = pieces[i].size()};
  }
  msghdr message{};
  message.msg_iov = vector.data();
  message.msg_iovlen = count;
  ssize_t put = 0;
  do {
    put = send(descriptor_, message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (put < 0 && errno == EINTR);
  if (put < 0) return failed();
  return {.status = IoResult::Status::kMoved, .octets = static_cast<std::size_t>(put)};
}

// The kernel need not fetch and check a list then.
IoResult Socket::write_one(Bytes piece) noexcept {
  ssize_t put = 0;
  do {
    put = send(descriptor_, piece, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (put < 0 && errno == EINTR);
  if (put < 0) return failed();
  return {.status = IoResult::Status::kMoved, .octets = static_cast<std::size_t>(put)};
}

void Socket::shutdown_write() noexcept {
  if (is_open()) ::shutdown(descriptor_, SHUT_WR);  // fails only when the connection is already gone
}

void Socket::close() noexcept {
  if (!is_open()) return;
  const NoCancellation here;
  ::close(std::exchange(descriptor_, -1));  // EINTR: Linux has closed it all the same
}

void Socket::reset() noexcept {
  if (!is_open()) return;
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

std::error_code Socket::set(const SocketOptions& options) noexcept {
  std::error_code error;
  if (options.keepalive) error = set_keepalive(descriptor_, *options.keepalive);
  if (!error && options.user_timeout) {
    error = set_option(descriptor_, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(options.user_timeout->count()));
  }
  if (!error && options.send_buffer) error = set_option(descriptor_, SOL_SOCKET, SO_SNDBUF, *options.send_buffer);
  if (!error && options.receive_buffer) error = set_option(descriptor_, SOL_SOCKET, SO_RCVBUF, *options.receive_buffer);
  if (!error && options.max_segment) error = set_option(descriptor_, IPPROTO_TCP, TCP_MAXSEG, *options.max_segment);
  if (!error && options.type_of_service) error = set_type_of_service(descriptor_, *options.type_of_service);
  if (!error && !options.congestion_control.empty())
    error = set_congestion_control(descriptor_, options.congestion_control);
  return error;
}

std::expected<Endpoint, std::error_code> Socket::local() const { return socket_name(getsockname, descriptor_); }
std::expected<Endpoint, std::error_code> Socket::peer() const { return socket_name(getpeername, descriptor_); }

// MPA-5.1-02, MPA-A.1-02
std::uint32_t Socket::emss() const noexcept {
  // The same number as tcpi_snd_mss of TCP_INFO, but the kernel need not lock the socket and fill 200 octets for it.
  int mss = 0;
  socklen_t length = sizeof mss;
  if (getsockopt(descriptor_, IPPROTO_TCP, TCP_MAXSEG, &mss, &length) != 0 || mss < 0) return 0;
  return static_cast<std::uint32_t>(mss);
}

bool Socket::peer_has_closed() const noexcept {
  pollfd now{.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
  return ::poll(&now, 1, 0) == 1 && (now.revents & POLLRDHUP) != 0;
}

std::error_code Socket::pending_error() noexcept {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return last_error();
  return {error, std::system_category()};
}

bool Socket::peer_takes_nothing() const noexcept {
  ::tcp_info info{};
  if (tcp_info(std::as_writable_bytes(std::span(&info, 1))) == 0) return false;
  int unsent = 0;
  return info.tcpi_unacked == 0 && ::ioctl(descriptor_, SIOCOUTQNSD, &unsent) == 0 && unsent > 0;
}

std::chrono::microseconds Socket::round_trip() const noexcept {
  ::tcp_info info{};
  static_cast<void>(tcp_info(std::as_writable_bytes(std::span(&info, 1))));
  return std::chrono::microseconds(info.tcpi_rtt);
}

std::size_t Socket::unacknowledged() const noexcept {
  int octets = 0;
  return ::ioctl(descriptor_, SIOCOUTQ, &octets) == 0 ? static_cast<std::size_t>(octets) : 0;
}

std::size_t Socket::tcp_info(MutableBytes into) const noexcept {
  auto length = static_cast<socklen_t>(into.size());
  return ::getsockopt(descriptor_, IPPROTO_TCP, TCP_INFO, into.data(), &length) == 0 ? length : 0;
}

bool Socket::is_ready(bool to_read, bool to_write) const noexcept {
  const int wanted = (to_read ? POLLIN : 0) | (to_write ? POLLOUT : 0);
  pollfd socket{.fd = descriptor_, .events = static_cast<short>(wanted), .revents = 0};
  return wanted != 0 && ::poll(&socket, 1, 0) == 1;
}

}  // namespace weft::transport
