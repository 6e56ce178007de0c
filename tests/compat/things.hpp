// SPDX-License-Identifier: Apache-2.0
// What a program makes before it can do anything, as the facades give it: on the first device, without a connection.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <stdexcept>
#include <string>

#include "ends.hpp"

namespace weft::compat::test {

template <typename T>
T* have(T* made, const char* what) {
  if (made == nullptr) throw std::runtime_error(std::string(what) + " was refused");
  return made;
}

inline ibv_context* open_loopback() {
  int count = 0;
  ibv_device** const list = have(ibv_get_device_list(&count), "ibv_get_device_list");
  ibv_context* opened = nullptr;
  for (int i = 0; i < count && opened == nullptr; ++i) {
    if (std::string(list[i]->name) == "weft_lo") opened = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  return have(opened, "ibv_open_device");
}

// A queue pair without a connection: what is posted to it is flushed when it goes to ERROR.
struct Things {
  ibv_context* context = open_loopback();
  ibv_pd* pd = have(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_comp_channel* channel = have(ibv_create_comp_channel(context), "ibv_create_comp_channel");
  ibv_cq* cq = have(ibv_create_cq(context, 16, nullptr, channel, 0), "ibv_create_cq");
  ibv_srq* srq = make_srq();
  ibv_qp* qp = make_qp(cq);

  Things() = default;
  Things(const Things&) = delete;
  Things& operator=(const Things&) = delete;
  // Whatever is null was destroyed by the test.
  ~Things() {
    if (qp != nullptr) ibv_destroy_qp(qp);
    if (srq != nullptr) ibv_destroy_srq(srq);
    if (cq != nullptr) ibv_destroy_cq(cq);
    if (channel != nullptr) ibv_destroy_comp_channel(channel);
    if (pd != nullptr) ibv_dealloc_pd(pd);
    if (context != nullptr) ibv_close_device(context);
  }

  ibv_srq* make_srq() const {
    ibv_srq_init_attr wanted{};
    wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
    return have(ibv_create_srq(pd, &wanted), "ibv_create_srq");
  }
  static ibv_qp_init_attr qp_wishes(ibv_cq* queue) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.cap = {.max_send_wr = 4, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 16};
    wanted.qp_type = IBV_QPT_RC;
    return wanted;
  }
  ibv_qp* make_qp(ibv_cq* queue) const {
    ibv_qp_init_attr wanted = qp_wishes(queue);
    return have(ibv_create_qp(pd, &wanted), "ibv_create_qp");
  }
};

inline int modify(ibv_qp* qp, ibv_qp_state state) {
  ibv_qp_attr to{};
  to.qp_state = state;
  to.port_num = 1;
  to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  const int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return ibv_modify_qp(qp, &to, IBV_QP_STATE | (state == IBV_QPS_INIT ? init : 0));
}

// `count` receives without memory, flushed: as many completions.
inline void complete_receives(ibv_qp* qp, int count) {
  ASSERT_EQ(modify(qp, IBV_QPS_INIT), 0);
  for (int i = 0; i < count; ++i) {
    ibv_recv_wr wr{};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
  }
  ASSERT_EQ(modify(qp, IBV_QPS_ERR), 0);
}

}  // namespace weft::compat::test
