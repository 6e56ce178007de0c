// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/cm_multicast.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/datagrams.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

// --- Memberships

bool Memberships::add(const One& one) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(all_, one.group, &One::group) != all_.end()) return false;
  all_.push_back(one);
  return true;
}

std::optional<Memberships::One> Memberships::find(const verbs::Address& group) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(all_, group, &One::group);
  return found == all_.end() ? std::nullopt : std::optional(*found);
}

void Memberships::attached(const verbs::Address& group) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(all_, group, &One::group);
  if (found != all_.end()) found->attached = true;
}

std::optional<Memberships::One> Memberships::remove(const verbs::Address& group) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(all_, group, &One::group);
  if (found == all_.end()) return std::nullopt;
  const One gone = *found;
  all_.erase(found);
  return gone;
}

// --- Calls

namespace {

std::optional<verbs::Address> address_of(const sockaddr* group) {
  if (group == nullptr) return std::nullopt;
  const auto parsed = verbs::Endpoint::from_sockaddr(group, length_of(*group));
  if (!parsed || !parsed->address.is_multicast()) return std::nullopt;
  verbs::Address address = parsed->address;
  address.scope = 0;  // the device's
  return address;
}

constexpr std::string_view kNoGroup = "no multicast address of IPv4 or IPv6";

}  // namespace

int cm_join_multicast(rdma_cm_id* raw, const sockaddr* group, std::uint32_t flags, void* context) {
  return waiting_minus_one([&] {
    constexpr std::string_view kCall = "rdma_join_multicast";
    if (raw == nullptr) return refused_minus_one(kCall, EINVAL, "id is null");
    CmId& id = of(raw);
    if (!has_datagrams(id)) return refused_minus_one(kCall, EOPNOTSUPP, "multicast needs RDMA_PS_UDP");
    if (id.verbs == nullptr)
      return refused_minus_one(kCall, EINVAL, "the id has no device: its address is not resolved");
    if (flags != RDMA_MC_JOIN_FLAG_FULLMEMBER && flags != RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER) {
      return refused_minus_one(kCall, EINVAL, "join_flags");
    }
    const auto address = address_of(group);
    if (!address) return refused_minus_one(kCall, EINVAL, kNoGroup);
    const bool only_sends = flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
    if (!id.groups.add({.group = *address, .context = context, .only_sends = only_sends})) {
      return refused_minus_one(kCall, EADDRINUSE, "the id has joined this group before");
    }
    id.engine.raise(verbs::ConnectionEventType::kMulticastJoin, address->to_ipv6());
    return complete(id);
  });
}

int cm_leave_multicast(rdma_cm_id* raw, const sockaddr* group) noexcept {
  return guarded_minus_one([&] {
    constexpr std::string_view kCall = "rdma_leave_multicast";
    if (raw == nullptr) return refused_minus_one(kCall, EINVAL, "id is null");
    CmId& id = of(raw);
    const auto address = address_of(group);
    if (!address) return refused_minus_one(kCall, EINVAL, kNoGroup);
    const auto left = id.groups.remove(*address);
    if (!left) return refused_minus_one(kCall, EADDRNOTAVAIL, "the id has not joined this group");
    // The program may have destroyed the queue pair before.
    if (left->attached && id.qp != nullptr) static_cast<void>(of(id.qp).datagrams->leave(*address));
    return 0;
  });
}

// --- Events

// What the kernel's connection manager tells of a group on Ethernet.
constexpr std::uint8_t kOneNetwork = 1;

bool describe_multicast(CmEvent& event, CmId& id) {
  std::array<std::byte, 16> octets{};
  std::ranges::copy(event.private_data, octets.begin());
  event.private_data.clear();
  const auto group = id.groups.find(verbs::Address::from_ipv6(octets));
  if (!group) return false;
  if (id.qp != nullptr && !group->only_sends) {
    if (const auto joined = of(id.qp).datagrams->join(group->group); !joined) {
      event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
      event.status = -refused("rdma_join_multicast", joined.error());
    } else {
      id.groups.attached(group->group);
    }
  }
  auto& parameters = event.param.ud;
  parameters = {};
  parameters.private_data = group->context;
  parameters.ah_attr = path_to(std::bit_cast<ibv_gid>(octets), 1, kOneNetwork);
  parameters.qp_num = verbs::DatagramQueuePair::kMulticastNumber;
  parameters.qkey = RDMA_UDP_QKEY;
  return true;
}

}  // namespace weft::compat
