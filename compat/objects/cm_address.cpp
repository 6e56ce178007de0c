// SPDX-License-Identifier: Apache-2.0
// Addresses of identifiers: bound, resolved, listened at.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "compat/objects/caller.hpp"
#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/living.hpp"
#include "compat/objects/report.hpp"
#include "verbs/options.hpp"

namespace weft::compat {

std::size_t length_of(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) return sizeof(sockaddr_in);
  if (address.sa_family == AF_INET6) return sizeof(sockaddr_in6);
  return sizeof(sa_family_t);
}

int adopt_device(CmId& id, Context& context) {
  Pd* const domain = shared_domain(context);
  if (domain == nullptr) return errno;
  id.verbs = &context.context;
  id.pd = domain;
  id.port_num = 1;
  return 0;
}

int adopt_local_address(CmId& id) {
  const verbs::Endpoint local = id.engine.local_address();
  local.to_sockaddr(id.route.addr.src_storage);
  if (id.verbs != nullptr || local.address.is_any()) return 0;
  Device* const device = find_device(local.address);
  if (device == nullptr) return ENODEV;
  Context* const context = shared_context(*device);
  return context != nullptr ? adopt_device(id, *context) : errno;
}

void adopt_late(CmId& id) {
  if (id.verbs == nullptr && id.route.addr.src_addr.sa_family != AF_UNSPEC) static_cast<void>(adopt_local_address(id));
}

namespace {

constexpr int kDefaultBacklog = 1024;  // as the kernel's connection manager has it
// Programs resolve addresses without a port, to learn the device. Nothing is ever sent there: cm_connect refuses it.
constexpr std::uint16_t kAnyPort = 9;

verbs::Result<verbs::Endpoint> endpoint(const sockaddr* address, std::string_view argument) {
  if (address == nullptr) return verbs::fail(verbs::Errc::kInvalidArgument, argument, "null");
  const auto parsed = verbs::Endpoint::from_sockaddr(address, length_of(*address));
  if (parsed) return *parsed;
  return verbs::fail(verbs::Errc::kNotSupported, argument, "neither IPv4 nor IPv6", parsed.error().value());
}

// InfiniBand's own addresses have no device here.
bool carried(const CmId& id) { return id.ps == RDMA_PS_TCP || has_datagrams(id); }

constexpr std::string_view kNotCarried = "weft has the port spaces RDMA_PS_TCP and RDMA_PS_UDP";

bool has_another_device() {
  const auto devices = verbs::Device::list();
  return devices && std::ranges::any_of(*devices, leads_somewhere);
}

// libfabric binds an identifier to find out which devices there are, and passes over all that are not the one that it
// is shown. Without one it takes all that have an address. An identifier that goes on has its device when it needs one
// (adopt_late). The kernel answers the same way where siw is on eth0 alone: to bind succeeds and shows no device (seen
// with Linux 6.1). Every other caller is shown the device: librpma makes the very same calls, and needs it.
bool only_asks(const CmId& id, const verbs::Endpoint& local, const void* caller) {
  if (!id.synchronous() || local.port != 0 || !local.address.is_loopback() ||
      !is_in_library(caller, {"libfabric.", "libverbs-fi."}))
    return false;
  if (has_another_device()) return true;
  verbs::log_line(verbs::LogLevel::kWarn,
                  "rdma_bind_addr: no interface but the loopback one has an address: libfabric passes over that, and "
                  "finds no device (docs/drop-in.md)");
  return false;
}

int bind(CmId& id, const verbs::Endpoint& local, std::string_view call, const void* caller = nullptr) {
  if (!carried(id)) return refused_minus_one(call, ENODEV, kNotCarried);
  if (const auto bound = id.engine.bind_address(local); !bound) return refused_minus_one(call, bound.error());
  if (only_asks(id, local, caller)) {
    id.engine.local_address().to_sockaddr(id.route.addr.src_storage);
    return 0;
  }
  if (const int error = adopt_local_address(id); error != 0) {
    return refused_minus_one(call, error, "the address has no device");
  }
  return 0;
}

verbs::Result<void> resolve(CmId& id, const sockaddr* source, const sockaddr* destination) {
  auto to = endpoint(destination, "destination");
  if (!to) return std::unexpected(to.error());
  if (to->port == 0) to->port = kAnyPort;
  if (source == nullptr || source->sa_family == AF_UNSPEC) return id.engine.resolve_address(*to);
  const auto from = endpoint(source, "source");
  if (!from) return std::unexpected(from.error());
  return id.engine.resolve_address(*to, *from);
}

}  // namespace

int cm_bind_addr(rdma_cm_id* id, sockaddr* address, const void* caller) noexcept {
  return guarded_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_bind_addr", EINVAL, "id is null");
    const auto local = endpoint(address, "address");
    if (!local) return refused_minus_one("rdma_bind_addr", local.error());
    return bind(of(id), *local, "rdma_bind_addr", caller);
  });
}

// The source address and the device are set when the event is delivered, for that may be in another thread, and before
// this call returns.
int cm_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int) {
  return waiting_minus_one([&] {
    constexpr std::string_view kCall = "rdma_resolve_addr";
    if (id == nullptr || destination == nullptr) return refused_minus_one(kCall, EINVAL, "null pointer");
    // perftest tries again with the identifier that it has just destroyed.
    if (!Living<CmId>::instance().with(&of(id), [] {})) return refused_minus_one(kCall, EINVAL, kNotAlive);
    if (!carried(of(id))) return refused_minus_one(kCall, ENODEV, kNotCarried);
    const sockaddr_storage before = id->route.addr.dst_storage;
    std::memcpy(&id->route.addr.dst_storage, destination, length_of(*destination));
    if (const auto resolved = resolve(of(id), source, destination); !resolved) {
      id->route.addr.dst_storage = before;
      return refused_minus_one(kCall, resolved.error());
    }
    return complete(of(id));
  });
}

// iWARP has no path records: num_paths stays 0.
int cm_resolve_route(rdma_cm_id* id, int) {
  return waiting_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_resolve_route", EINVAL, "id is null");
    if (const auto done = of(id).engine.resolve_route(); !done) {
      return refused_minus_one("rdma_resolve_route", done.error());
    }
    return complete(of(id));
  });
}

int cm_listen(rdma_cm_id* id, int backlog) noexcept {
  return guarded_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_listen", EINVAL, "id is null");
    CmId& listener = of(id);
    if (id->route.addr.src_addr.sa_family == AF_UNSPEC) {
      const verbs::Endpoint anywhere{.address = verbs::Address::any(transport::Family::kIpv4)};
      if (bind(listener, anywhere, "rdma_listen") != 0) return -1;
    }
    adopt_late(listener);
    const auto listening = listener.engine.listen(backlog > 0 ? backlog : kDefaultBacklog);
    return listening ? 0 : refused_minus_one("rdma_listen", listening.error());
  });
}

namespace {

__be16 port(const sockaddr_storage& address) {
  // Both families have it at the same place, but only they have one.
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return 0;
  sockaddr_in6 with_port{};
  std::memcpy(&with_port, &address, sizeof with_port);
  return with_port.sin6_port;
}
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

}  // namespace

__be16 cm_get_src_port(rdma_cm_id* id) noexcept { return port(id->route.addr.src_storage); }
__be16 cm_get_dst_port(rdma_cm_id* id) noexcept { return port(id->route.addr.dst_storage); }

}  // namespace weft::compat
