// SPDX-License-Identifier: Apache-2.0
// Shared receive queues of identifiers.
#include <utility>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

// Returns null when there is nothing against it.
const char* complaint(const rdma_cm_id* id, const ibv_pd* pd) {
  if (id->srq != nullptr) return "the id has a shared receive queue";
  if (id->verbs == nullptr || pd == nullptr) return "the id has no device: its address is not resolved";
  if (pd->context != id->verbs) return "the protection domain is of another open of a device";
  return nullptr;
}

int adopt(CmId& id, ibv_srq* made, ibv_pd* pd) {
  if (made == nullptr) return -1;  // errno says why, and the log
  id.srq = made;
  id.pd = pd;
  return 0;
}

}  // namespace

int cm_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attributes) noexcept {
  return guarded_minus_one([&] {
    if (id == nullptr || attributes == nullptr) return refused_minus_one("rdma_create_srq", EINVAL, "null pointer");
    adopt_late(of(id));
    ibv_pd* const domain = pd != nullptr ? pd : id->pd;
    if (const char* why = complaint(id, domain)) return refused_minus_one("rdma_create_srq", EINVAL, why);
    return adopt(of(id), create_srq(domain, attributes), domain);
  });
}

int cm_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attributes) noexcept {
  return guarded_minus_one([&] {
    if (id == nullptr || attributes == nullptr) return refused_minus_one("rdma_create_srq_ex", EINVAL, "null pointer");
    adopt_late(of(id));
    const bool given = (attributes->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 && attributes->pd != nullptr;
    ibv_pd* const domain = given ? attributes->pd : id->pd;
    if (const char* why = complaint(id, domain)) return refused_minus_one("rdma_create_srq_ex", EINVAL, why);
    attributes->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    attributes->pd = domain;
    return adopt(of(id), create_srq_ex(id->verbs, attributes), domain);
  });
}

void cm_destroy_srq(rdma_cm_id* id) noexcept {
  if (id == nullptr) return;
  if (ibv_srq* const gone = std::exchange(id->srq, nullptr)) destroy_srq(gone);
}

}  // namespace weft::compat
