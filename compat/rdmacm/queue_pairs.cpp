// SPDX-License-Identifier: Apache-2.0
// The queue pair and the shared receive queue of an identifier.
#include <rdma/rdma_verbs.h>

#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"

using namespace weft;

WEFT_ENTRY int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
  return compat::cm_create_qp(id, pd, qp_init_attr);
}
WEFT_ENTRY int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* qp_init_attr) {
  return compat::cm_create_qp_ex(id, qp_init_attr);
}
WEFT_ENTRY void rdma_destroy_qp(rdma_cm_id* id) { compat::cm_destroy_qp(id); }
WEFT_ENTRY int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* qp_attr, int* qp_attr_mask) {
  return compat::cm_init_qp_attr(id, qp_attr, qp_attr_mask);
}

WEFT_ENTRY int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  return compat::cm_create_srq(id, pd, attr);
}
WEFT_ENTRY int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
  return compat::cm_create_srq_ex(id, attr);
}
WEFT_ENTRY void rdma_destroy_srq(rdma_cm_id* id) { compat::cm_destroy_srq(id); }
