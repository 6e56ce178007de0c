// SPDX-License-Identifier: Apache-2.0
// What iWARP has not: multicast, and options that adapters of one vendor agree on while connecting (ECE).
#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

namespace {

constexpr const char* kNoDatagrams = "the connection manager has no datagrams";

}  // namespace

WEFT_ENTRY int rdma_join_multicast(rdma_cm_id*, sockaddr*, void*) {
  return compat::refused_minus_one("rdma_join_multicast", EOPNOTSUPP, kNoDatagrams);
}
WEFT_ENTRY int rdma_join_multicast_ex(rdma_cm_id*, rdma_cm_join_mc_attr_ex*, void*) {
  return compat::refused_minus_one("rdma_join_multicast_ex", EOPNOTSUPP, kNoDatagrams);
}
WEFT_ENTRY int rdma_leave_multicast(rdma_cm_id*, sockaddr*) {
  return compat::refused_minus_one("rdma_leave_multicast", EOPNOTSUPP, kNoDatagrams);
}

WEFT_ENTRY int rdma_set_local_ece(rdma_cm_id*, ibv_ece*) {
  return compat::refused_minus_one("rdma_set_local_ece", EOPNOTSUPP, "no vendor's options");
}
// The peer offered none.
WEFT_ENTRY int rdma_get_remote_ece(rdma_cm_id*, ibv_ece* ece) {
  *ece = {};
  return 0;
}
