// SPDX-License-Identifier: Apache-2.0
// rsocket, rbind, rlisten, and the names of both ends.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "compat/rsockets/acceptor.hpp"
#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"
#include "verbs/options.hpp"

namespace weft::compat::rsockets {

namespace {

constexpr int kFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;

int refuse_kind(int error, std::string_view reason) { return refused_minus_one("rsocket", error, reason); }

bool known_domain(int domain) { return domain == AF_INET || domain == AF_INET6; }

int open(int domain, int type) {
  auto made = Socket::make(domain);
  if (!made) return -1;
  made->nonblocking = (type & SOCK_NONBLOCK) != 0;
  if (const int error = made->renew_id(); error != 0) return minus_one(error);
  return enter(std::move(made));
}

// The kernel's, of which only the number is kept.
int open_datagram(int domain, int type) {
  const int number = ::socket(domain, type, IPPROTO_UDP);
  if (number < 0) return -1;
  try {
    return enter_datagram(number);
  } catch (...) {
    ::close(number);
    throw;
  }
}

}  // namespace

// What rdma-core's has and this one has not, says ENOTSUP as that does for what it does not know.
int socket(int domain, int type, int protocol) noexcept {
  return guarded_minus_one([&] {
    if (Inside::now() || verbs::on_progress_thread()) return minus_one(ENOTSUP);
    const Inside inside;
    const int kind = type & ~kFlags;
    if (!known_domain(domain)) return refuse_kind(ENOTSUP, "neither AF_INET nor AF_INET6");
    if (kind == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP)) return open_datagram(domain, type);
    if (kind != SOCK_STREAM || (protocol != 0 && protocol != IPPROTO_TCP)) {
      return refuse_kind(ENOTSUP, "neither the type and protocol of a stream nor those of datagrams");
    }
    return open(domain, type);
  });
}

int bind(int number, const sockaddr* address, socklen_t length) noexcept {
  return on_socket(
      number,
      [&](Socket& self, auto&) {
        const auto local = endpoint(address, length, self.domain);
        if (!local) return -1;
        if (self.phase != Phase::kFresh) return refused_minus_one("rbind", EINVAL, "it has an address");
        if (const auto bound = self.id->bind_address(*local); !bound) return refused_minus_one("rbind", bound.error());
        self.phase = Phase::kBound;
        return 0;
      },
      [&] { return ::bind(number, address, length); });
}

int listen(int number, int backlog) noexcept {
  return on_socket(number, [&](Socket& self, auto& lock) {
    if (self.phase == Phase::kListening) return 0;
    if (self.phase == Phase::kFresh) {
      const auto family = self.domain == AF_INET ? transport::Family::kIpv4 : transport::Family::kIpv6;
      const auto bound = self.id->bind_address({.address = verbs::Address::any(family)});
      if (!bound) return refused_minus_one("rlisten", bound.error());
      self.phase = Phase::kBound;
    }
    if (self.phase != Phase::kBound) return refused_minus_one("rlisten", EINVAL, "it is connected, or was");
    if (const int error = self.listen(Socket::most_waiting(backlog)); error != 0) {
      return minus_one(error);
    }
    lock.unlock();  // the acceptor's comes before it
    Acceptor::of_process().watch(find(number));
    return 0;
  });
}

// --- Addresses

std::optional<verbs::Endpoint> endpoint(const sockaddr* address, socklen_t length, int family) {
  if (address == nullptr || length < sizeof(sa_family_t)) {
    errno = address == nullptr ? EFAULT : EINVAL;
    return std::nullopt;
  }
  const auto parsed = verbs::Endpoint::from_sockaddr(address, length);
  if (parsed && address->sa_family == family) return *parsed;
  errno = parsed ? EAFNOSUPPORT : parsed.error().value();
  return std::nullopt;
}

namespace {

// As a socket of this family has it: ::ffff:192.0.2.1.
socklen_t storage_of(const verbs::Endpoint& from, int family, sockaddr_storage& storage) {
  if (from.address.family == transport::Family::kIpv6 || family == AF_INET) {
    verbs::Endpoint known = from;
    return known.to_sockaddr(storage);
  }
  sockaddr_in6 mapped{};
  mapped.sin6_family = AF_INET6;
  mapped.sin6_port = htons(from.port);
  if (!from.address.is_any()) mapped.sin6_addr = std::bit_cast<in6_addr>(from.address.to_ipv6());
  std::memcpy(&storage, &mapped, sizeof mapped);
  return sizeof mapped;
}

}  // namespace

int give_address(const verbs::Endpoint& from, int family, sockaddr* address, socklen_t* length) {
  if (length == nullptr || (address == nullptr && *length != 0)) return minus_one(EFAULT);
  sockaddr_storage storage{};
  const socklen_t full = storage_of(from, family, storage);
  if (address != nullptr) std::memcpy(address, &storage, std::min(*length, full));
  *length = full;
  return 0;
}

int getsockname(int number, sockaddr* address, socklen_t* length) noexcept {
  return on_socket(
      number, [&](Socket& self, auto&) { return give_address(self.id->local_address(), self.domain, address, length); },
      [&] { return ::getsockname(number, address, length); });
}

int getpeername(int number, sockaddr* address, socklen_t* length) noexcept {
  return on_socket(
      number,
      [&](Socket& self, auto&) {
        self.progress();
        if (self.phase != Phase::kConnected) return minus_one(ENOTCONN);
        return give_address(self.id->remote_address(), self.domain, address, length);
      },
      [&] { return ::getpeername(number, address, length); });
}

}  // namespace weft::compat::rsockets
