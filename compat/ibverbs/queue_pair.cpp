// SPDX-License-Identifier: Apache-2.0
// Queue pairs and shared receive queues. Posting comes through the operations of ibv_context.
#include "compat/objects/queue_pair.hpp"

#include "compat/entry.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

WEFT_DEFAULT_VERSION(ibv_create_qp, "IBVERBS_1.1");
WEFT_ENTRY ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
  return compat::create_qp(pd, qp_init_attr);
}

WEFT_DEFAULT_VERSION(ibv_modify_qp, "IBVERBS_1.1");
WEFT_ENTRY int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  return compat::modify_qp(qp, attr, attr_mask, __builtin_return_address(0));
}

WEFT_DEFAULT_VERSION(ibv_query_qp, "IBVERBS_1.1");
WEFT_ENTRY int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr) {
  return compat::query_qp(qp, attr, attr_mask, init_attr);
}

WEFT_DEFAULT_VERSION(ibv_destroy_qp, "IBVERBS_1.1");
WEFT_ENTRY int ibv_destroy_qp(ibv_qp* qp) { return compat::destroy_qp(qp); }

// Returns null for a queue pair that was made without send_ops_flags: its ibv_wr_* pointers are not set.
WEFT_ENTRY ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  compat::Qp& pair = compat::of(qp);
  return pair.builder ? &pair : nullptr;
}

// Nothing is promised about the order in which octets of a message become visible.
WEFT_ENTRY int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) { return 0; }

WEFT_ENTRY int ibv_set_ece(ibv_qp*, ibv_ece*) {
  return compat::refused("ibv_set_ece", EOPNOTSUPP, "no vendor's options");
}
WEFT_ENTRY int ibv_query_ece(ibv_qp*, ibv_ece*) {
  return compat::refused("ibv_query_ece", EOPNOTSUPP, "no vendor's options");
}

WEFT_DEFAULT_VERSION(ibv_create_srq, "IBVERBS_1.1");
WEFT_ENTRY ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* srq_init_attr) {
  return compat::create_srq(pd, srq_init_attr);
}

WEFT_DEFAULT_VERSION(ibv_modify_srq, "IBVERBS_1.1");
WEFT_ENTRY int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* srq_attr, int srq_attr_mask) {
  return compat::modify_srq(srq, srq_attr, srq_attr_mask);
}

WEFT_DEFAULT_VERSION(ibv_query_srq, "IBVERBS_1.1");
WEFT_ENTRY int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* srq_attr) { return compat::query_srq(srq, srq_attr); }

WEFT_DEFAULT_VERSION(ibv_destroy_srq, "IBVERBS_1.1");
WEFT_ENTRY int ibv_destroy_srq(ibv_srq* srq) { return compat::destroy_srq(srq); }
