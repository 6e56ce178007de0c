// SPDX-License-Identifier: Apache-2.0
// What iWARP has not: options that adapters of one vendor agree on while connecting (ECE).
#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

WEFT_ENTRY int rdma_set_local_ece(rdma_cm_id*, ibv_ece*) {
  return compat::refused_minus_one("rdma_set_local_ece", EOPNOTSUPP, "no vendor's options");
}
// The peer offered none.
WEFT_ENTRY int rdma_get_remote_ece(rdma_cm_id*, ibv_ece* ece) {
  *ece = {};
  return 0;
}
