// SPDX-License-Identifier: Apache-2.0
// Queue pairs as programs find them that were written for adapters: their first state, their depth, and the way to RTS
// of programs that move them themselves.
#include <gtest/gtest.h>

#include "things.hpp"

namespace weft::compat::test {
namespace {

ibv_qp_attr query(ibv_qp* qp) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  EXPECT_EQ(ibv_query_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_CAP, &init), 0);
  return attributes;
}

int post_receive(ibv_qp* qp) {
  ibv_recv_wr wr{};
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp, &wr, &bad);
}

// As rdma-core's tests expect of a device of type RNIC.
TEST(CompatQueuePair, BeginsInInit) {
  const Things things;
  EXPECT_EQ(query(things.qp).qp_state, IBV_QPS_INIT);
  EXPECT_EQ(post_receive(things.qp), 0);
  EXPECT_EQ(modify(things.qp, IBV_QPS_INIT), 0);
  EXPECT_EQ(modify(things.qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(query(things.qp).qp_state, IBV_QPS_RESET);
}

TEST(CompatQueuePair, ResetForgetsWhatABatchLeftUnread) {
  const Things things;
  ibv_cq_init_attr_ex wishes{};
  wishes.cqe = 16;
  ibv_cq_ex* const queue = have(ibv_create_cq_ex(things.context, &wishes), "ibv_create_cq_ex");
  ibv_qp* const qp = things.make_qp(ibv_cq_ex_to_cq(queue));
  complete_receives(qp, 2);
  ibv_poll_cq_attr begin{};
  ASSERT_EQ(ibv_start_poll(queue, &begin), 0);
  ibv_end_poll(queue);
  EXPECT_EQ(modify(qp, IBV_QPS_RESET), 0);
  const int error = ibv_start_poll(queue, &begin);
  EXPECT_EQ(error, ENOENT);
  if (error == 0) ibv_end_poll(queue);  // until then it is locked
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(queue)), 0);
}

TEST(CompatQueuePair, HasRoomForAPowerOfTwo) {
  const Things things;
  ibv_qp_init_attr wanted = Things::qp_wishes(things.cq);
  wanted.cap.max_recv_wr = 5;
  wanted.cap.max_send_wr = 100;
  ibv_qp* const qp = have(ibv_create_qp(things.pd, &wanted), "ibv_create_qp");
  EXPECT_EQ(wanted.cap.max_recv_wr, 8U);
  EXPECT_EQ(query(qp).cap.max_send_wr, 128U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(post_receive(qp), 0) << i;
  EXPECT_EQ(post_receive(qp), ENOMEM);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

struct WithId : testing::Test {
  void SetUp() override {
    ASSERT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    sockaddr_in address = loopback(0);
    ASSERT_EQ(rdma_bind_addr(id, plain(address)), 0);
  }
  void TearDown() override {
    rdma_destroy_ep(id);
    rdma_destroy_event_channel(channel);
  }
  rdma_event_channel* const channel = have(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* id = nullptr;
};

// What rdma_init_qp_attr says is to be done before rdma_accept; the connection manager does it on iWARP.
TEST_F(WithId, AProgramMayFollowRdmaInitQpAttr) {
  const Things things;
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    int mask = 0;
    ASSERT_EQ(rdma_init_qp_attr(id, &attributes, &mask), 0);
    EXPECT_EQ(ibv_modify_qp(things.qp, &attributes, mask), 0) << state;
  }
}

// In ERROR each request is flushed at once, so no queue ever fills.
TEST(CompatQueuePair, ACircularListHasAnEnd) {
  const Things things;
  ASSERT_EQ(modify(things.qp, IBV_QPS_ERR), 0);
  ibv_send_wr sends[3]{};
  ibv_recv_wr receives[3]{};
  for (int i = 0; i < 3; ++i) {
    sends[i].opcode = IBV_WR_SEND;
    sends[i].next = &sends[(i + 1) % 3];
    receives[i].next = &receives[(i + 1) % 3];
  }
  ibv_send_wr* bad_send = nullptr;
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(ibv_post_send(things.qp, sends, &bad_send), ENOMEM);
  EXPECT_NE(bad_send, nullptr);
  EXPECT_EQ(ibv_post_recv(things.qp, receives, &bad_receive), ENOMEM);
  EXPECT_NE(bad_receive, nullptr);
  EXPECT_EQ(ibv_post_srq_recv(things.srq, receives, &bad_receive), ENOMEM);
}

TEST_F(WithId, TheAckTimeoutIsToldBack) {
  std::uint8_t timeout = 17;
  ASSERT_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout), 0);
  ibv_qp_init_attr wanted{};
  wanted.cap = {.max_send_wr = 4, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 16};
  wanted.qp_type = IBV_QPT_RC;
  ASSERT_EQ(rdma_create_qp(id, nullptr, &wanted), 0);
  EXPECT_EQ(query(id->qp).timeout, 17);
  timeout = 18;
  ASSERT_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout), 0);
  EXPECT_EQ(query(id->qp).timeout, 18);
}

}  // namespace
}  // namespace weft::compat::test
