// SPDX-License-Identifier: Apache-2.0
#include "transport/datagram_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "transport/detail/last_error.hpp"
#include "transport/detail/socket_name.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {

namespace {

// The kernel grants no more than net.core.rmem_max and wmem_max.
constexpr int kBuffer = 8 << 20;

void enlarge(int descriptor) noexcept {
  for (const int which : {SO_RCVBUF, SO_SNDBUF}) {
    setsockopt(descriptor, SOL_SOCKET, which, &kBuffer, sizeof kBuffer);
  }
}

}  // namespace

std::expected<DatagramSocket, std::error_code> DatagramSocket::bind(const Endpoint& at) {
  const int family = at.address.family == Family::kIpv6 ? AF_INET6 : AF_INET;
  Socket socket = Socket::own(move_up(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP)));
  if (!socket.is_open()) return std::unexpected(last_error());
  enlarge(socket.descriptor());
  sockaddr_storage storage{};
  const socklen_t length = at.to_sockaddr(storage);
  if (::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&storage), length) != 0) {
    return std::unexpected(last_error());
  }
  const auto local = socket_name(getsockname, socket.descriptor());
  if (!local) return std::unexpected(local.error());
  return DatagramSocket(std::move(socket), *local);
}

// An error of a datagram before (ICMP: port unreachable) is reported in place of this one, which is sent then.
std::error_code DatagramSocket::send(Bytes octets, const Endpoint& to) noexcept {
  sockaddr_storage storage{};
  const socklen_t length = to.to_sockaddr(storage);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto sent = ::sendto(socket_.descriptor(), octets.data(), octets.size(), MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(&storage), length);
    if (sent >= 0) return {};
    if (errno != ECONNREFUSED && errno != EINTR) break;
  }
  return last_error();
}

std::optional<DatagramSocket::Arrived> DatagramSocket::receive(MutableBytes into) noexcept {
  sockaddr_storage storage{};
  for (;;) {
    socklen_t length = sizeof storage;
    const auto came = ::recvfrom(socket_.descriptor(), into.data(), into.size(), MSG_TRUNC,
                                 reinterpret_cast<sockaddr*>(&storage), &length);
    if (came >= 0) {
      const auto from = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&storage), length);
      return Arrived{.octets = static_cast<std::size_t>(came), .from = from.value_or(Endpoint{})};
    }
    if (errno != ECONNREFUSED && errno != EINTR && errno != EHOSTUNREACH && errno != ENETUNREACH) return std::nullopt;
  }
}

}  // namespace weft::transport
