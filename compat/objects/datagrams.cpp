// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/datagrams.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat {

// --- Paths

std::optional<verbs::Address> peer_of(std::string_view call, const ibv_ah_attr& path, const verbs::Address& local) {
  const auto refuse = [call](std::string_view reason) { return refused(call, EINVAL, reason), std::nullopt; };
  if (path.port_num != 1) return refuse("ah_attr.port_num: every device has one port: 1");
  if (path.is_global != 0 && path.grh.sgid_index != 0) return refuse("ah_attr.grh.sgid_index: there is GID 0 alone");
  if (path.is_global == 0 && local.family != transport::Family::kIpv4) {
    return refuse("ah_attr.is_global: a LID names a peer of an IPv4 network alone");
  }
  verbs::Address peer = local;
  if (path.is_global != 0) {
    peer = verbs::Address::from_ipv6(std::bit_cast<std::array<std::byte, 16>>(path.grh.dgid.raw));
    if (peer.is_link_local()) peer.scope = local.scope;
  } else {
    peer.octets[2] = static_cast<std::byte>(path.dlid >> 8);
    peer.octets[3] = static_cast<std::byte>(path.dlid);
  }
  if (peer.is_any()) return refuse("ah_attr.grh.dgid: names no host");
  return peer;
}

ibv_ah_attr path_to(const ibv_gid& gid, std::uint8_t port, std::uint8_t hop_limit) noexcept {
  ibv_ah_attr path{};
  path.is_global = 1;
  path.grh.dgid = gid;
  path.grh.hop_limit = hop_limit;
  path.port_num = port;
  return path;
}

// --- Address handles

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) noexcept {
  return guarded_null([&]() -> ibv_ah* {
    constexpr std::string_view kCall = "ibv_create_ah";
    const auto local = device_address(of(pd->context).device());
    if (!local) return refused_null(kCall, EINVAL, "the device has no IP address");
    const auto peer = peer_of(kCall, *attributes, *local);
    return peer ? new Ah(*pd, *peer, attributes->grh.hop_limit) : nullptr;  // which a LID has no use for
  });
}

int init_ah_from_wc(ibv_context*, std::uint8_t port, const ibv_wc* wc, const ibv_grh* grh,
                    ibv_ah_attr* attributes) noexcept {
  if ((wc->wc_flags & IBV_WC_GRH) == 0 || grh == nullptr) {
    return refused_minus_one("ibv_init_ah_from_wc", EINVAL, "not of a datagram: it has no IBV_WC_GRH");
  }
  *attributes = path_to(grh->sgid, port);
  return 0;
}

ibv_ah* create_ah_from_wc(ibv_pd* pd, const ibv_wc* wc, const ibv_grh* grh, std::uint8_t port) noexcept {
  ibv_ah_attr attributes;
  if (init_ah_from_wc(pd->context, port, wc, grh, &attributes) != 0) return nullptr;
  return create_ah(pd, &attributes);
}

int destroy_ah(ibv_ah* ah) noexcept {
  return guarded_errno([&] {
    const int error = claim("ibv_destroy_ah", of(ah));
    if (error == 0) dispose(of(ah));
    return error;
  });
}

// --- Multicast groups

namespace {

using OfGroup = verbs::Result<void> (verbs::DatagramQueuePair::*)(const verbs::Address&);

int with_group(std::string_view call, ibv_qp* pair, const ibv_gid* group, OfGroup change) noexcept {
  return guarded_errno([&] {
    if (pair == nullptr || group == nullptr) return refused(call, EINVAL, "null pointer");
    auto& datagrams = of(pair).datagrams;
    if (!datagrams) return refused(call, EINVAL, "only a queue pair of IBV_QPT_UD receives from groups");
    const auto address = verbs::Address::from_ipv6(std::bit_cast<std::array<std::byte, 16>>(group->raw));
    const auto done = ((*datagrams).*change)(address);
    return done ? 0 : refused(call, done.error());
  });
}

}  // namespace

int attach_mcast(ibv_qp* pair, const ibv_gid* group) noexcept {
  return with_group("ibv_attach_mcast", pair, group, &verbs::DatagramQueuePair::join);
}
int detach_mcast(ibv_qp* pair, const ibv_gid* group) noexcept {
  return with_group("ibv_detach_mcast", pair, group, &verbs::DatagramQueuePair::leave);
}

// --- Queue pairs

verbs::Result<verbs::DatagramQueuePair> make_datagram_queue_pair(ibv_pd& pd,
                                                                 const verbs::QueuePairAttributes& attributes) {
  const auto local = device_address(of(pd.context).device());
  if (!local) return verbs::fail(verbs::Errc::kNoDevice, "device", "has no IP address");
  return at_free_port(port_range(), "all UDP ports of WEFT_PORTS are in use", [&](std::uint16_t port) {
    return of(&pd).engine.create_datagram_queue_pair(attributes, {.address = *local, .port = port});
  });
}

}  // namespace weft::compat
