// SPDX-License-Identifier: Apache-2.0
#include "transport/datagram_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/detail/last_error.hpp"
#include "transport/detail/socket_name.hpp"
#include "transport/interfaces.hpp"
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

template <typename Value>
bool set(const Socket& socket, int level, int option, const Value& value) noexcept {
  return setsockopt(socket.descriptor(), level, option, &value, sizeof value) == 0;
}

std::expected<Socket, std::error_code> open(Family family) {
  const int domain = family == Family::kIpv6 ? AF_INET6 : AF_INET;
  Socket socket = Socket::own(move_up(::socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP)));
  if (!socket.is_open()) return std::unexpected(last_error());
  enlarge(socket.descriptor());
  return socket;
}

bool bind_to(const Socket& socket, const Endpoint& at) noexcept {
  sockaddr_storage storage{};
  const socklen_t length = at.to_sockaddr(storage);
  return ::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&storage), length) == 0;
}

// 0 if no interface has the address.
std::uint32_t index_of_interface(const Address& local) {
  const auto interfaces = enumerate_interfaces();
  const auto owner = interfaces ? find_owner(*interfaces, local) : std::nullopt;
  return owner ? owner->index : 0;
}

bool become_member(const Socket& socket, const Address& group, int interface) noexcept {
  if (group.family == Family::kIpv4) {
    ip_mreqn wanted{};
    std::memcpy(&wanted.imr_multiaddr, group.octets.data(), sizeof wanted.imr_multiaddr);
    wanted.imr_ifindex = interface;
    return set(socket, IPPROTO_IP, IP_MULTICAST_ALL, 0) && set(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, wanted);
  }
  ipv6_mreq wanted{};
  std::memcpy(&wanted.ipv6mr_multiaddr, group.octets.data(), sizeof wanted.ipv6mr_multiaddr);
  wanted.ipv6mr_interface = static_cast<unsigned>(interface);
  return set(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0) && set(socket, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, wanted);
}

}  // namespace

std::expected<DatagramSocket, std::error_code> DatagramSocket::bind(const Endpoint& at) {
  auto socket = open(at.address.family);
  if (!socket) return std::unexpected(socket.error());
  if (!bind_to(*socket, at)) return std::unexpected(last_error());
  // The interface of IPv4 follows from the sender's address (ip(7)), that of IPv6 does not.
  if (at.address.family == Family::kIpv6) {
    set(*socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(index_of_interface(at.address)));
  }
  const auto local = socket_name(getsockname, socket->descriptor());
  if (!local) return std::unexpected(local.error());
  return DatagramSocket(std::move(*socket), *local);
}

std::expected<DatagramSocket, std::error_code> DatagramSocket::join(const Endpoint& group, const Address& interface) {
  auto socket = open(group.address.family);
  if (!socket) return std::unexpected(socket.error());
  const std::uint32_t index = index_of_interface(interface);
  if (index == 0) return std::unexpected(std::make_error_code(std::errc::no_such_device));
  Endpoint at = group;
  if (at.address.family == Family::kIpv6) at.address.scope = index;
  if (!set(*socket, SOL_SOCKET, SO_REUSEADDR, 1) || !bind_to(*socket, at) ||
      !become_member(*socket, group.address, static_cast<int>(index))) {
    return std::unexpected(last_error());
  }
  return DatagramSocket(std::move(*socket), group);
}

bool DatagramSocket::limit_hops(int limit) noexcept {
  if (limit == hop_limit_) return true;
  const bool done = local_.address.family == Family::kIpv6 ? set(socket_, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, limit)
                                                           : set(socket_, IPPROTO_IP, IP_MULTICAST_TTL, limit);
  if (done) hop_limit_ = limit;
  return done;
}

// An error of a datagram before (ICMP: port unreachable) is reported in place of this one, which is sent then.
std::error_code DatagramSocket::send(Bytes octets, const Endpoint& to, std::uint8_t hop_limit) noexcept {
  // The kernel takes 0 for this host alone.
  if (to.address.is_multicast() && !limit_hops(std::max<int>(hop_limit, 1))) return last_error();
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
