// SPDX-License-Identifier: Apache-2.0
// What iWARP does not have: multicast, and the vendors' enhanced connection establishment.
#include "compat/objects/cm.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

int cm_join_multicast(rdma_cm_id*, sockaddr*, void*) noexcept {
  return refused_minus_one("rdma_join_multicast", EOPNOTSUPP, "iWARP has no multicast");
}

int cm_join_multicast_ex(rdma_cm_id*, rdma_cm_join_mc_attr_ex*, void*) noexcept {
  return refused_minus_one("rdma_join_multicast_ex", EOPNOTSUPP, "iWARP has no multicast");
}

int cm_leave_multicast(rdma_cm_id*, sockaddr*) noexcept {
  return refused_minus_one("rdma_leave_multicast", EOPNOTSUPP, "iWARP has no multicast");
}

// An offer that the peer will not hear of: options that both ends need to know are then not used.
int cm_set_local_ece(rdma_cm_id* id, ibv_ece* ece) noexcept {
  if (id == nullptr || ece == nullptr) return refused_minus_one("rdma_set_local_ece", EINVAL, "null pointer");
  return 0;
}

int cm_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) noexcept {
  if (id == nullptr || ece == nullptr) return refused_minus_one("rdma_get_remote_ece", EINVAL, "null pointer");
  *ece = {};
  return 0;
}

}  // namespace weft::compat
