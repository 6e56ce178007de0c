// SPDX-License-Identifier: Apache-2.0
// What programs were compiled against: sizes and offsets that the inline functions of verbs.h and rdma_cma.h reach
// into. Newer headers may add to an end (marked "at least") or to the front of verbs_context; they move nothing of
// this.
#include <pthread.h>
#include <rdma/rdma_cma.h>

#include <cstddef>

#include "compat/objects/context.hpp"

#ifdef __LP64__
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset))
#define SIZE(type, octets) static_assert(sizeof(type) == (octets))
#define SIZE_AT_LEAST(type, octets) static_assert(sizeof(type) >= (octets))

// The numbers are those of amd64. On arm64 a mutex, and what follows it in a structure, is 8 octets longer.
constexpr std::size_t kMutexGrowth = sizeof(pthread_mutex_t) - 40;

SIZE(ibv_device, 664);
AT(ibv_device, node_type, 16);
AT(ibv_device, transport_type, 20);
AT(ibv_device, name, 24);
AT(ibv_device, dev_name, 88);
AT(ibv_device, dev_path, 152);
AT(ibv_device, ibdev_path, 408);

SIZE(ibv_context, 328 + kMutexGrowth);
AT(ibv_context, device, 0);
AT(ibv_context, ops, 8);
AT(ibv_context, cmd_fd, 264);
AT(ibv_context, async_fd, 268);
AT(ibv_context, num_comp_vectors, 272);
AT(ibv_context, mutex, 280);
AT(ibv_context, abi_compat, 320 + kMutexGrowth);

SIZE(ibv_context_ops, 256);
AT(ibv_context_ops, alloc_mw, 56);
AT(ibv_context_ops, bind_mw, 64);
AT(ibv_context_ops, dealloc_mw, 72);
AT(ibv_context_ops, poll_cq, 88);
AT(ibv_context_ops, req_notify_cq, 96);
AT(ibv_context_ops, post_srq_recv, 160);
AT(ibv_context_ops, post_send, 200);
AT(ibv_context_ops, post_recv, 208);

// Found backwards from the ibv_context that ends it: new operations come at its front.
#define BEFORE_CONTEXT(member, octets) \
  static_assert(offsetof(verbs_context, context) - offsetof(verbs_context, member) == (octets))
static_assert(sizeof(verbs_context) - offsetof(verbs_context, context) == sizeof(ibv_context));
SIZE_AT_LEAST(verbs_context, 648);
BEFORE_CONTEXT(sz, 8);
BEFORE_CONTEXT(open_xrcd, 32);
BEFORE_CONTEXT(create_qp_ex, 56);
BEFORE_CONTEXT(query_device_ex, 104);
BEFORE_CONTEXT(create_cq_ex, 120);
BEFORE_CONTEXT(query_port, 320);

SIZE(ibv_pd, 16);
SIZE(ibv_mr, 48);
AT(ibv_mr, lkey, 36);
AT(ibv_mr, rkey, 40);
SIZE(ibv_mw, 32);
SIZE(ibv_srq, 128 + kMutexGrowth);
SIZE(ibv_ah, 24);
SIZE(ibv_comp_channel, 16);
AT(ibv_comp_channel, fd, 8);
AT(ibv_comp_channel, refcnt, 12);

SIZE(ibv_cq, 128 + kMutexGrowth);
AT(ibv_cq, channel, 8);
AT(ibv_cq, cq_context, 16);
AT(ibv_cq, cqe, 28);
AT(ibv_cq, mutex, 32);
AT(ibv_cq, comp_events_completed, 120 + kMutexGrowth);
SIZE_AT_LEAST(ibv_cq_ex, 288);
AT(ibv_cq_ex, comp_mask, 128 + kMutexGrowth);
AT(ibv_cq_ex, status, 132 + kMutexGrowth);
AT(ibv_cq_ex, wr_id, 136 + kMutexGrowth);
AT(ibv_cq_ex, start_poll, 144 + kMutexGrowth);

SIZE(ibv_qp, 160 + kMutexGrowth);
AT(ibv_qp, handle, 48);
AT(ibv_qp, qp_num, 52);
AT(ibv_qp, state, 56);
AT(ibv_qp, qp_type, 60);
AT(ibv_qp, mutex, 64);
SIZE_AT_LEAST(ibv_qp_ex, 352);
AT(ibv_qp_ex, qp_base, 0);
AT(ibv_qp_ex, wr_id, 168 + kMutexGrowth);
AT(ibv_qp_ex, wr_flags, 176 + kMutexGrowth);
AT(ibv_qp_ex, wr_rdma_write, 224 + kMutexGrowth);
AT(ibv_qp_ex, wr_start, 320 + kMutexGrowth);
AT(ibv_qp_ex, wr_complete, 328 + kMutexGrowth);

SIZE(ibv_wc, 48);
SIZE(ibv_send_wr, 128);
SIZE(ibv_recv_wr, 32);
SIZE(ibv_sge, 16);
SIZE_AT_LEAST(ibv_port_attr, 52);
AT(ibv_port_attr, port_cap_flags2, 48);
SIZE(ibv_device_attr, 232);
SIZE_AT_LEAST(ibv_device_attr_ex, 400);
SIZE(ibv_qp_attr, 144);
SIZE(ibv_qp_init_attr, 64);
SIZE_AT_LEAST(ibv_qp_init_attr_ex, 136);
SIZE_AT_LEAST(ibv_gid_entry, 32);

SIZE(rdma_cm_id, 416);
AT(rdma_cm_id, verbs, 0);
AT(rdma_cm_id, channel, 8);
AT(rdma_cm_id, context, 16);
AT(rdma_cm_id, qp, 24);
AT(rdma_cm_id, route, 32);
AT(rdma_cm_id, ps, 344);
AT(rdma_cm_id, port_num, 348);
AT(rdma_cm_id, event, 352);
AT(rdma_cm_id, send_cq_channel, 360);
AT(rdma_cm_id, send_cq, 368);
AT(rdma_cm_id, srq, 392);
AT(rdma_cm_id, pd, 400);
AT(rdma_cm_id, qp_type, 408);
SIZE(rdma_cm_event, 80);
AT(rdma_cm_event, listen_id, 8);
AT(rdma_cm_event, event, 16);
AT(rdma_cm_event, status, 20);
AT(rdma_cm_event, param, 24);
SIZE(rdma_conn_param, 24);
SIZE(rdma_addrinfo, 96);
SIZE(rdma_event_channel, 4);
#endif
