// SPDX-License-Identifier: Apache-2.0
// Calls as C programs make them: with any number where an enumerator is expected, which C++ cannot say.
#include "numbers.h"

int notify_with(struct rdma_cm_id* id, int event) { return rdma_notify(id, (enum ibv_event_type)event); }
int create_id_in(struct rdma_event_channel* channel, struct rdma_cm_id** id, int space) {
  return rdma_create_id(channel, id, 0, (enum rdma_port_space)space);
}
int create_ep_of(struct rdma_cm_id** id, struct rdma_addrinfo* at, int space, int type) {
  at->ai_port_space = space;
  at->ai_qp_type = type;
  return rdma_create_ep(id, at, 0, 0);
}
int modify_to(struct ibv_qp* qp, int state) {
  struct ibv_qp_attr to = {0};
  to.qp_state = (enum ibv_qp_state)state;
  return ibv_modify_qp(qp, &to, IBV_QP_STATE);
}
int init_attributes_for(struct rdma_cm_id* id, int state) {
  struct ibv_qp_attr of = {0};
  int mask = 0;
  of.qp_state = (enum ibv_qp_state)state;
  return rdma_init_qp_attr(id, &of, &mask);
}
struct ibv_qp* create_pair_of(struct ibv_pd* pd, struct ibv_cq* cq, int type) {
  struct ibv_qp_init_attr wanted = {0};
  wanted.send_cq = wanted.recv_cq = cq;
  wanted.cap.max_send_wr = wanted.cap.max_recv_wr = 1;
  wanted.qp_type = (enum ibv_qp_type)type;
  return ibv_create_qp(pd, &wanted);
}
int create_pair_on(struct rdma_cm_id* id, int type) {
  struct ibv_qp_init_attr wanted = {0};
  wanted.cap.max_send_wr = wanted.cap.max_recv_wr = 1;
  wanted.qp_type = (enum ibv_qp_type)type;
  return rdma_create_qp(id, 0, &wanted);
}
struct ibv_srq* create_shared_of(struct ibv_context* context, struct ibv_pd* pd, int type) {
  struct ibv_srq_init_attr_ex wanted = {0};
  wanted.attr.max_wr = wanted.attr.max_sge = 1;
  wanted.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  wanted.srq_type = (enum ibv_srq_type)type;
  wanted.pd = pd;
  return ibv_create_srq_ex(context, &wanted);
}
struct ibv_mw* window_of(struct ibv_pd* pd, int type) { return ibv_alloc_mw(pd, (enum ibv_mw_type)type); }
int post_opcode(struct ibv_qp* qp, int opcode) {
  struct ibv_send_wr wr = {0}, *bad = 0;
  wr.opcode = (enum ibv_wr_opcode)opcode;
  return ibv_post_send(qp, &wr, &bad);
}
int advise(struct ibv_pd* pd, int advice) {
  struct ibv_sge all = {0};
  return ibv_advise_mr(pd, (enum ib_uverbs_advise_mr_advice)advice, 0, &all, 1);
}
void acknowledge(int type) {
  struct ibv_async_event event = {0};
  event.event_type = (enum ibv_event_type)type;
  ibv_ack_async_event(&event);
}
const char* status_text(int value) { return ibv_wc_status_str((enum ibv_wc_status)value); }
const char* event_text(int value) { return ibv_event_type_str((enum ibv_event_type)value); }
const char* port_text(int value) { return ibv_port_state_str((enum ibv_port_state)value); }
const char* node_text(int value) { return ibv_node_type_str((enum ibv_node_type)value); }
const char* cm_event_text(int value) { return rdma_event_str((enum rdma_cm_event_type)value); }
int multiple_of(int rate) { return ibv_rate_to_mult((enum ibv_rate)rate); }
int megabits_of(int rate) { return ibv_rate_to_mbps((enum ibv_rate)rate); }
int in_order_of(struct ibv_qp* qp, int opcode) { return ibv_query_qp_data_in_order(qp, (enum ibv_wr_opcode)opcode, 0); }

// --- Names of later versions, which the headers do not have
int rdma_write_cm_event(void);
int ibv_query_port_speed(struct ibv_context* context, uint32_t port, uint64_t* speed);
void* ibv_create_comp_cntr(struct ibv_context* context, void* attributes);
void* ibv_reg_mr_ex(struct ibv_pd* pd, void* attributes);

int newer_cm_event(void) { return rdma_write_cm_event(); }
int newer_port_speed(struct ibv_context* context) {
  uint64_t speed = 0;
  return ibv_query_port_speed(context, 1, &speed);
}
void* newer_counter(struct ibv_context* context) { return ibv_create_comp_cntr(context, 0); }
struct ibv_mr* newer_region(struct ibv_pd* pd, void* address, size_t length, int access) {
  struct {
    size_t length;
    int access;
    uint64_t comp_mask, iova;
    void* addr;
    int fd;
    uint64_t fd_offset;
    void *dmah, *buf;
  } wanted = {.length = length, .access = access, .comp_mask = 2, .addr = address};
  return ibv_reg_mr_ex(pd, &wanted);
}
