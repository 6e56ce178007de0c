// SPDX-License-Identifier: Apache-2.0
// Multicast groups of identifiers of RDMA_PS_UDP. A group is an address: there is no subnet manager to ask, so that a
// join is complete at once, and its event says where datagrams are to be sent.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "verbs/endpoint.hpp"

struct rdma_cm_id;
struct sockaddr;

namespace weft::compat {

struct CmEvent;
struct CmId;

// What one identifier has joined. Thread-safe.
class Memberships {
 public:
  struct One {
    verbs::Address group{};
    void* context{};        // the program's, for the event
    bool only_sends{};      // its queue pair receives nothing
    bool attached = false;  // its queue pair has joined the group
  };
  // Returns false if it is there.
  bool add(const One& one);
  [[nodiscard]] std::optional<One> find(const verbs::Address& group) const;
  void attached(const verbs::Address& group);
  std::optional<One> remove(const verbs::Address& group);

 private:
  mutable std::mutex mutex_;
  std::vector<One> all_;
};

// rdma_join_multicast and rdma_leave_multicast: 0, or -1 and errno. `flags` of rdma_cm_mc_join_flags.
int cm_join_multicast(rdma_cm_id* id, const sockaddr* group, std::uint32_t flags, void* context);
int cm_leave_multicast(rdma_cm_id* id, const sockaddr* group) noexcept;
// Joins the group with the queue pair, if the identifier has one by now, and fills in the event. False if the program
// has left the group meanwhile.
[[nodiscard]] bool describe_multicast(CmEvent& event, CmId& id);

}  // namespace weft::compat
