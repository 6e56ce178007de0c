/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a C++ test cannot make: see numbers.c. Each is the function of a similar name, given a plain number. */
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif
int notify_with(struct rdma_cm_id* id, int event);
int create_id_in(struct rdma_event_channel* channel, struct rdma_cm_id** id, int space);
int create_ep_of(struct rdma_cm_id** id, struct rdma_addrinfo* at, int space, int type);
int modify_to(struct ibv_qp* qp, int state);
int init_attributes_for(struct rdma_cm_id* id, int state);
struct ibv_qp* create_pair_of(struct ibv_pd* pd, struct ibv_cq* cq, int type);
int create_pair_on(struct rdma_cm_id* id, int type);
struct ibv_srq* create_shared_of(struct ibv_context* context, struct ibv_pd* pd, int type);
struct ibv_mw* window_of(struct ibv_pd* pd, int type);
int post_opcode(struct ibv_qp* qp, int opcode);
int advise(struct ibv_pd* pd, int advice);
void acknowledge(int type);
const char* status_text(int value);
const char* event_text(int value);
const char* port_text(int value);
const char* node_text(int value);
const char* cm_event_text(int value);
int multiple_of(int rate);
int megabits_of(int rate);
int in_order_of(struct ibv_qp* qp, int opcode);

/* Functions that the headers do not have. */
int newer_cm_event(void);
struct epoll_event;
int repoll_create(int size);
int repoll_ctl(int set, int operation, int number, struct epoll_event* event);
int repoll_wait(int set, struct epoll_event* events, int most, int timeout);
int newer_port_speed(struct ibv_context* context);
void* newer_counter(struct ibv_context* context);
struct ibv_mr* newer_region(struct ibv_pd* pd, void* address, size_t length, int access);
#ifdef __cplusplus
}
#endif
