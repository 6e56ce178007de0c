// SPDX-License-Identifier: Apache-2.0
// rsetsockopt, rgetsockopt, rfcntl.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <span>

#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets {

namespace {

constexpr std::string_view kNoCommand = "no such command for rsockets";
constexpr int kSegment = 2048;  // what rdma-core tells where there is no path record, as on iWARP

// Queues and buffers are made when the connection is.
bool opened(const Socket& self) { return self.phase == Phase::kConnecting || self.phase == Phase::kConnected; }

template <typename T>
bool read_value(const void* value, socklen_t length, T& into) {
  if (value == nullptr || length < sizeof into) return false;
  std::memcpy(&into, value, sizeof into);
  return true;
}

// As much as there is room for, as getsockopt(2) does.
template <typename T>
int give_value(const T& from, void* value, socklen_t* length) {
  if (value == nullptr || length == nullptr) return EFAULT;
  *length = std::min<socklen_t>(*length, sizeof from);
  std::memcpy(value, &from, *length);
  return 0;
}

std::uint32_t size_of(int wanted) { return static_cast<std::uint32_t>(std::max(wanted, 0)); }

// SO_SNDBUF and SO_RCVBUF are doubled, as the kernel does; later than the connection they change nothing.
void set_buffer(const Socket& self, std::uint32_t& size, int wanted) {
  if (!opened(self)) size = std::clamp(size_of(std::min(wanted, INT_MAX / 2)) * 2, kMinBuffer, kMaxBuffer);
}

int set_time(timeval& time, const void* value, socklen_t length) {
  timeval wanted{};
  if (!read_value(value, length, wanted)) return EINVAL;
  if (wanted.tv_usec < 0 || wanted.tv_usec >= 1'000'000) return EDOM;
  time = wanted.tv_sec < 0 ? timeval{} : wanted;
  return 0;
}

// Each answers an errno; ENOPROTOOPT: there is no such option.
int set_socket(Socket& self, int name, const void* value, socklen_t length) {
  if (name == SO_LINGER) return read_value(value, length, self.options.linger_close) ? 0 : EINVAL;
  if (name == SO_RCVTIMEO) return set_time(self.options.receive_time, value, length);
  if (name == SO_SNDTIMEO) return set_time(self.options.send_time, value, length);
  int number = 0;
  if (!read_value(value, length, number)) return EINVAL;
  switch (name) {
    case SO_REUSEADDR: self.options.reuse_address = number != 0; return 0;
    case SO_KEEPALIVE: self.options.keep_alive = number != 0; return 0;
    case SO_OOBINLINE: self.options.out_of_band_inline = number != 0; return 0;
    case SO_SNDBUF: set_buffer(self, self.sizes.send_buffer, number); return 0;
    case SO_RCVBUF: set_buffer(self, self.sizes.receive_buffer, number); return 0;
    default: return ENOPROTOOPT;
  }
}

int set_tcp(Socket& self, int name, const void* value, socklen_t length) {
  int number = 0;
  if (!read_value(value, length, number)) return EINVAL;
  switch (name) {
    case TCP_NODELAY: self.options.no_delay = number != 0; return 0;
    case TCP_MAXSEG: return 0;  // there are no segments to speak of
    case TCP_KEEPIDLE: return number > 0 ? (self.options.keep_idle = number, 0) : EINVAL;
    default: return ENOPROTOOPT;
  }
}

int set_ipv6(Socket& self, int name, const void* value, socklen_t length) {
  int number = 0;
  if (name != IPV6_V6ONLY || self.domain != AF_INET6) return ENOPROTOOPT;
  if (!read_value(value, length, number)) return EINVAL;
  self.options.v6_only = number != 0;
  return 0;
}

int set_rdma(Sizes& sizes, int name, const void* value, socklen_t length) {
  if (name == RDMA_ROUTE) return value != nullptr && length != 0 ? 0 : EINVAL;  // TCP finds its own
  int number = 0;
  if (!read_value(value, length, number)) return EINVAL;
  Sizes wanted = sizes;
  switch (name) {
    case RDMA_SQSIZE: wanted.send_queue = size_of(number); break;
    case RDMA_RQSIZE: wanted.receive_queue = size_of(number); break;
    case RDMA_INLINE: wanted.inline_octets = size_of(number); break;
    case RDMA_IOMAPSIZE: wanted.iomap_entries = size_of(number); break;
    default: return ENOPROTOOPT;
  }
  sizes = wanted.within_limits();
  return 0;
}

int get_socket(Socket& self, int name, void* value, socklen_t* length) {
  const auto number = [&](int from) { return give_value(from, value, length); };
  switch (name) {
    case SO_ERROR: self.progress(true); return number(self.take_error());
    case SO_TYPE: return number(SOCK_STREAM);
    case SO_DOMAIN: return number(self.domain);
    case SO_PROTOCOL: return number(IPPROTO_TCP);
    case SO_ACCEPTCONN: return number(self.phase == Phase::kListening ? 1 : 0);
    case SO_REUSEADDR: return number(self.options.reuse_address ? 1 : 0);
    case SO_KEEPALIVE: return number(self.options.keep_alive ? 1 : 0);
    case SO_OOBINLINE: return number(self.options.out_of_band_inline ? 1 : 0);
    case SO_SNDBUF: return number(static_cast<int>(self.sizes.send_buffer));
    case SO_RCVBUF: return number(static_cast<int>(self.sizes.receive_buffer));
    case SO_LINGER: return give_value(self.options.linger_close, value, length);
    case SO_RCVTIMEO: return give_value(self.options.receive_time, value, length);
    case SO_SNDTIMEO: return give_value(self.options.send_time, value, length);
    default: return ENOPROTOOPT;
  }
}

// Returns TCP_INFO of the connection below. Before there is a connection, only the state is filled in.
int get_tcp_info(const Socket& self, void* value, socklen_t* length) {
  tcp_info info{};
  info.tcpi_state = self.phase == Phase::kListening ? TCP_LISTEN : TCP_CLOSE;
  if (self.phase == Phase::kConnected)
    static_cast<void>(self.id->tcp_info(std::as_writable_bytes(std::span(&info, 1))));
  return give_value(info, value, length);
}

int get_tcp(const Socket& self, int name, void* value, socklen_t* length) {
  switch (name) {
    case TCP_NODELAY: return give_value(self.options.no_delay ? 1 : 0, value, length);
    case TCP_MAXSEG: return give_value(kSegment, value, length);
    case TCP_INFO: return get_tcp_info(self, value, length);
    case TCP_KEEPIDLE: return give_value(self.options.keep_idle, value, length);
    default: return ENOPROTOOPT;
  }
}

int get_ipv6(const Socket& self, int name, void* value, socklen_t* length) {
  if (name != IPV6_V6ONLY || self.domain != AF_INET6) return ENOPROTOOPT;
  return give_value(self.options.v6_only ? 1 : 0, value, length);
}

int get_rdma(const Sizes& sizes, int name, void* value, socklen_t* length) {
  const auto number = [&](std::uint32_t from) { return give_value(static_cast<int>(from), value, length); };
  switch (name) {
    case RDMA_SQSIZE: return number(sizes.send_queue);
    case RDMA_RQSIZE: return number(sizes.receive_queue);
    case RDMA_INLINE: return number(sizes.inline_octets);
    case RDMA_IOMAPSIZE: return number(sizes.iomap_entries);
    case RDMA_ROUTE:  // iWARP has no path records
      if (length == nullptr) return EFAULT;
      *length = 0;
      return 0;
    default: return ENOPROTOOPT;
  }
}

int answer(std::string_view call, int error) {
  return error == 0 ? 0 : refused_minus_one(call, error, error == ENOPROTOOPT ? "no such option" : "the value");
}

// The kernel's options, and what streams have of rdma/rsocket.h: there are no queues that it could apply to.
int set_of_datagram(int number, int level, int name, const void* value, socklen_t length) {
  if (level != SOL_RDMA) return ::setsockopt(number, level, name, value, length);
  Sizes sizes = find_datagram(number).value_or(Sizes{});
  const int error = set_rdma(sizes, name, value, length);
  if (error == 0) set_sizes_of_datagram(number, sizes);
  return answer("rsetsockopt", error);
}

int get_of_datagram(int number, int level, int name, void* value, socklen_t* length) {
  if (level != SOL_RDMA) return ::getsockopt(number, level, name, value, length);
  return answer("rgetsockopt", get_rdma(find_datagram(number).value_or(Sizes{}), name, value, length));
}

// A copy would be no rsocket.
int fcntl_of_datagram(int number, int command, int argument) {
  const bool known = command == F_GETFL || command == F_SETFL || command == F_GETFD || command == F_SETFD;
  return known ? ::fcntl(number, command, argument) : refused_minus_one("rfcntl", EINVAL, kNoCommand);
}

}  // namespace

int setsockopt(int number, int level, int name, const void* value, socklen_t length) noexcept {
  return on_socket(
      number,
      [&](Socket& self, auto&) {
        switch (level) {
          case SOL_SOCKET: return answer("rsetsockopt", set_socket(self, name, value, length));
          case IPPROTO_TCP: return answer("rsetsockopt", set_tcp(self, name, value, length));
          case IPPROTO_IPV6: return answer("rsetsockopt", set_ipv6(self, name, value, length));
          case SOL_RDMA:
            return answer("rsetsockopt", opened(self) ? EINVAL : set_rdma(self.sizes, name, value, length));
          default: return answer("rsetsockopt", ENOPROTOOPT);
        }
      },
      [&] { return set_of_datagram(number, level, name, value, length); });
}

int getsockopt(int number, int level, int name, void* value, socklen_t* length) noexcept {
  return on_socket(
      number,
      [&](Socket& self, auto&) {
        switch (level) {
          case SOL_SOCKET: return answer("rgetsockopt", get_socket(self, name, value, length));
          case IPPROTO_TCP: return answer("rgetsockopt", get_tcp(self, name, value, length));
          case IPPROTO_IPV6: return answer("rgetsockopt", get_ipv6(self, name, value, length));
          case SOL_RDMA: return answer("rgetsockopt", get_rdma(self.sizes, name, value, length));
          default: return answer("rgetsockopt", ENOPROTOOPT);
        }
      },
      [&] { return get_of_datagram(number, level, name, value, length); });
}

// No other program inherits the number, whatever F_SETFD says: an rsocket's state is this process's memory.
int fcntl(int number, int command, int argument) noexcept {
  return on_socket(
      number,
      [&](Socket& self, auto&) {
        switch (command) {
          case F_GETFL: return O_RDWR | (self.nonblocking ? O_NONBLOCK : 0);
          case F_SETFL: self.nonblocking = (argument & O_NONBLOCK) != 0; return 0;
          case F_GETFD: return FD_CLOEXEC;
          case F_SETFD: return 0;
          default: return refused_minus_one("rfcntl", EINVAL, kNoCommand);
        }
      },
      [&] { return fcntl_of_datagram(number, command, argument); });
}

}  // namespace weft::compat::rsockets
