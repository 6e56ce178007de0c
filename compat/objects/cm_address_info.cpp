// SPDX-License-Identifier: Apache-2.0
// rdma_getaddrinfo(3): names to addresses, with the local address that leads there. One result, the resolver's first.
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "compat/objects/cm.hpp"
#include "compat/objects/report.hpp"
#include "transport/route.hpp"
#include "verbs/endpoint.hpp"

namespace weft::compat {

namespace {

// Each part is from malloc, as the original's: programs replace the addresses in the list, and free them.
struct FreeInfo {
  void operator()(rdma_addrinfo* info) const noexcept { cm_freeaddrinfo(info); }
  void operator()(addrinfo* found) const noexcept { freeaddrinfo(found); }
};
using Info = std::unique_ptr<rdma_addrinfo, FreeInfo>;

constexpr int kKnownHints = RAI_PASSIVE | RAI_NUMERICHOST | RAI_NOROUTE | RAI_FAMILY;

bool copy_address(sockaddr*& to, socklen_t& to_length, const sockaddr* from, socklen_t length) {
  if (from == nullptr || length == 0) return true;
  to = static_cast<sockaddr*>(std::malloc(length));
  if (to == nullptr) return false;
  std::memcpy(to, from, length);
  to_length = length;
  return true;
}

// --- The kind of queue pair, and the port space that it lives in

bool is_datagram(int port_space) { return port_space == RDMA_PS_UDP || port_space == RDMA_PS_IPOIB; }

// EAI_SOCKTYPE when the two contradict each other.
int set_kind(rdma_addrinfo& info, const rdma_addrinfo& hints) {
  info.ai_qp_type = hints.ai_qp_type;
  info.ai_port_space = hints.ai_port_space;
  if (info.ai_qp_type == 0) info.ai_qp_type = is_datagram(info.ai_port_space) ? IBV_QPT_UD : IBV_QPT_RC;
  const bool datagram = info.ai_qp_type == IBV_QPT_UD;
  if (info.ai_port_space == 0) info.ai_port_space = datagram ? RDMA_PS_UDP : RDMA_PS_TCP;
  if (info.ai_port_space == RDMA_PS_IB) return 0;
  return datagram == is_datagram(info.ai_port_space) ? 0 : EAI_SOCKTYPE;
}

// --- Names

addrinfo query_of(const rdma_addrinfo& info, const rdma_addrinfo& hints) {
  addrinfo query{};
  if ((hints.ai_flags & RAI_PASSIVE) != 0) query.ai_flags |= AI_PASSIVE;
  if ((hints.ai_flags & RAI_NUMERICHOST) != 0) query.ai_flags |= AI_NUMERICHOST;
  if ((hints.ai_flags & RAI_FAMILY) != 0) query.ai_family = hints.ai_family;
  query.ai_socktype = is_datagram(info.ai_port_space) ? SOCK_DGRAM : SOCK_STREAM;
  return query;
}

// Passive: the name is ours; else the peer's.
int look_up(rdma_addrinfo& info, const char* node, const char* service, const rdma_addrinfo& hints) {
  const addrinfo query = query_of(info, hints);
  addrinfo* raw = nullptr;
  if (const int error = getaddrinfo(node, service, &query, &raw); error != 0) return error;
  const std::unique_ptr<addrinfo, FreeInfo> found(raw);
  info.ai_family = found->ai_family;
  const bool passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  const bool copied = passive ? copy_address(info.ai_src_addr, info.ai_src_len, found->ai_addr, found->ai_addrlen)
                              : copy_address(info.ai_dst_addr, info.ai_dst_len, found->ai_addr, found->ai_addrlen);
  return copied ? 0 : EAI_MEMORY;
}

// What the hints name, where the names did not say.
int adopt_hints(rdma_addrinfo& info, const rdma_addrinfo& hints) {
  if (info.ai_src_addr == nullptr &&
      !copy_address(info.ai_src_addr, info.ai_src_len, hints.ai_src_addr, hints.ai_src_len))
    return EAI_MEMORY;
  if (info.ai_dst_addr == nullptr &&
      !copy_address(info.ai_dst_addr, info.ai_dst_len, hints.ai_dst_addr, hints.ai_dst_len))
    return EAI_MEMORY;
  const sockaddr* const either = info.ai_dst_addr != nullptr ? info.ai_dst_addr : info.ai_src_addr;
  if (info.ai_family == AF_UNSPEC) info.ai_family = either != nullptr ? either->sa_family : hints.ai_family;
  return 0;
}

// --- Routing

// The local address towards the destination. Without one it stays open: rdma_resolve_addr will say what is wrong.
int add_source(rdma_addrinfo& info) {
  if (info.ai_src_addr != nullptr || info.ai_dst_addr == nullptr) return 0;
  const auto destination = verbs::Endpoint::from_sockaddr(info.ai_dst_addr, info.ai_dst_len);
  if (!destination) return 0;
  const auto towards = transport::local_address_towards(destination->address);
  if (!towards) return 0;
  sockaddr_storage source{};
  const socklen_t length = verbs::Endpoint{.address = *towards}.to_sockaddr(source);
  const auto* address = reinterpret_cast<const sockaddr*>(&source);
  return copy_address(info.ai_src_addr, info.ai_src_len, address, length) ? 0 : EAI_MEMORY;
}

// --- All of it

int fill(rdma_addrinfo& info, const char* node, const char* service, const rdma_addrinfo& hints) {
  if ((hints.ai_flags & ~kKnownHints) != 0) return EAI_BADFLAGS;
  info.ai_flags = hints.ai_flags;
  if (const int error = set_kind(info, hints); error != 0) return error;
  const bool anywhere = (hints.ai_flags & RAI_PASSIVE) != 0 && hints.ai_src_addr == nullptr;
  if (node == nullptr && service == nullptr && anywhere) service = "0";  // the wildcard, and any port
  if (node != nullptr || service != nullptr) {
    if (const int error = look_up(info, node, service, hints); error != 0) return error;
  }
  if (const int error = adopt_hints(info, hints); error != 0) return error;
  return (hints.ai_flags & (RAI_PASSIVE | RAI_NOROUTE)) == 0 ? add_source(info) : 0;
}

}  // namespace

int cm_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** result) noexcept {
  return guarded(
      [&] {
        if (result == nullptr || (node == nullptr && service == nullptr && hints == nullptr)) {
          return refused_minus_one("rdma_getaddrinfo", EINVAL, "neither node nor service nor hints, or no result");
        }
        Info info(static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))));
        if (!info) return EAI_MEMORY;
        static constexpr rdma_addrinfo kNoHints{};
        if (const int error = fill(*info, node, service, hints != nullptr ? *hints : kNoHints); error != 0)
          return error;
        *result = info.release();
        return 0;
      },
      [](int) { return EAI_MEMORY; });
}

void cm_freeaddrinfo(rdma_addrinfo* list) noexcept {
  while (list != nullptr) {
    rdma_addrinfo* const next = list->ai_next;
    std::free(list->ai_src_addr);
    std::free(list->ai_dst_addr);
    std::free(list->ai_src_canonname);
    std::free(list->ai_dst_canonname);
    std::free(list->ai_route);
    std::free(list->ai_connect);
    std::free(list);
    list = next;
  }
}

}  // namespace weft::compat
