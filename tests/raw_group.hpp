// SPDX-License-Identifier: Apache-2.0
// A member of a multicast group that is a UDP socket of the kernel: it sees the hop limits in IP headers, which queue pairs do
// not show.
#pragma once

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace weft::test {

class RawGroupMember {
 public:
  RawGroupMember(const char* group, std::uint16_t port, const char* interface = "lo")
      : v6_(std::strchr(group, ':') != nullptr),
        socket_(::socket(v6_ ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const unsigned index = if_nametoindex(interface);
    joined_ = set(SOL_SOCKET, SO_REUSEADDR, 1) && (v6_ ? join_v6(group, port, index) : join_v4(group, port, index));
  }
  ~RawGroupMember() { ::close(socket_); }
  RawGroupMember(const RawGroupMember&) = delete;
  RawGroupMember& operator=(const RawGroupMember&) = delete;

  [[nodiscard]] bool joined() const { return joined_; }  // else errno says why

  // The hop limit of the next datagram; -1 if none comes.
  [[nodiscard]] int hops_of_next() const {
    constexpr int kPatience = 20'000;
    pollfd readable{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, kPatience) != 1) return -1;
    std::array<char, 128> octets{};
    alignas(cmsghdr) std::array<char, 64> control{};
    iovec piece{.iov_base = octets.data(), .iov_len = octets.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(socket_, &message, 0) < 0) return -1;
    const cmsghdr* const first = CMSG_FIRSTHDR(&message);
    int hops = -1;
    if (first != nullptr) std::memcpy(&hops, CMSG_DATA(first), sizeof hops);
    return hops;
  }

 private:
  template <typename Value>
  bool set(int level, int option, const Value& value) const {
    return ::setsockopt(socket_, level, option, &value, sizeof value) == 0;
  }
  template <typename Name>
  bool bind(const Name& name) const {
    return ::bind(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
  }
  bool join_v4(const char* group, std::uint16_t port, unsigned index) const {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    ::inet_pton(AF_INET, group, &at.sin_addr);
    const ip_mreqn wanted{.imr_multiaddr = at.sin_addr, .imr_address = {}, .imr_ifindex = static_cast<int>(index)};
    return bind(at) && set(IPPROTO_IP, IP_ADD_MEMBERSHIP, wanted) && set(IPPROTO_IP, IP_RECVTTL, 1);
  }
  bool join_v6(const char* group, std::uint16_t port, unsigned index) const {
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_port = htons(port);
    at.sin6_scope_id = index;
    ::inet_pton(AF_INET6, group, &at.sin6_addr);
    const ipv6_mreq wanted{.ipv6mr_multiaddr = at.sin6_addr, .ipv6mr_interface = index};
    return bind(at) && set(IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, wanted) && set(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
  }

  const bool v6_;
  const int socket_;
  bool joined_ = false;
};

}  // namespace weft::test
