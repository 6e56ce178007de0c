// SPDX-License-Identifier: Apache-2.0
// Datagrams (IBV_QPT_UD) as libibverbs' structures: address handles, and what differs in their queue pairs.
#pragma once

#include "compat/objects/queue_pair.hpp"

namespace weft::compat {

struct Ah : ibv_ah {
  const Use domain_use;
  const verbs::Address peer;
  const std::uint8_t hop_limit;
  const Alive<Ah> alive{this};
  Ah(ibv_pd& pd, const verbs::Address& named, std::uint8_t hops)
      : ibv_ah{.context = pd.context, .pd = &pd, .handle = 0},
        domain_use(&of(&pd).users),
        peer(named),
        hop_limit(hops) {}
  [[nodiscard]] verbs::DatagramAddress of_queue_pair(std::uint32_t number, std::uint32_t qkey) const noexcept {
    return {.address = peer, .number = number, .qkey = qkey, .hop_limit = hop_limit};
  }
};
inline Ah& of(ibv_ah* ah) noexcept { return *static_cast<Ah*>(ah); }

// The peer that a path names: by its GID; or by its LID, the last two octets of an IPv4 address in the same network of
// 16 bits. Nothing, and a refusal of `call`, when it names none.
[[nodiscard]] std::optional<verbs::Address> peer_of(std::string_view call, const ibv_ah_attr& path,
                                                    const verbs::Address& local);

// The path to the host or the group with this GID. For a group, `hop_limit` says how far.
[[nodiscard]] ibv_ah_attr path_to(const ibv_gid& gid, std::uint8_t port, std::uint8_t hop_limit = 0xFF) noexcept;

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) noexcept;
// The path back to the sender of a datagram.
int init_ah_from_wc(ibv_context* context, std::uint8_t port, const ibv_wc* wc, const ibv_grh* grh,
                    ibv_ah_attr* attributes) noexcept;  // -1 and errno
ibv_ah* create_ah_from_wc(ibv_pd* pd, const ibv_wc* wc, const ibv_grh* grh, std::uint8_t port) noexcept;
int destroy_ah(ibv_ah* ah) noexcept;

// The group with this GID: 0 or an errno. A LID says nothing more.
int attach_mcast(ibv_qp* pair, const ibv_gid* group) noexcept;
int detach_mcast(ibv_qp* pair, const ibv_gid* group) noexcept;

// A port of the device's address, of those that WEFT_PORTS permits.
[[nodiscard]] verbs::Result<verbs::DatagramQueuePair> make_datagram_queue_pair(
    ibv_pd& pd, const verbs::QueuePairAttributes& attributes);

}  // namespace weft::compat
