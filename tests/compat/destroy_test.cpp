// SPDX-License-Identifier: Apache-2.0
// Objects destroyed twice, destroyed while others use them, and destroyed although they were never made: the call is
// refused, and nothing is freed.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <utility>

#include "things.hpp"

namespace weft::compat::test {
namespace {

// One of each call that answers with an errno.
template <typename Object, typename Destroy>
void expect_once(Object* object, Destroy destroy) {
  EXPECT_EQ(destroy(object), 0);
  EXPECT_EQ(destroy(object), EINVAL);
}

TEST(CompatDestroy, TwiceIsRefused) {
  Things things;
  std::array<char, 64> memory{};
  const int access = IBV_ACCESS_LOCAL_WRITE;
  expect_once(have(ibv_reg_mr(things.pd, memory.data(), memory.size(), access), "ibv_reg_mr"), ibv_dereg_mr);
}

TEST(CompatDestroy, InTheRightOrderTwice) {
  Things things;
  expect_once(std::exchange(things.qp, nullptr), ibv_destroy_qp);
  expect_once(std::exchange(things.srq, nullptr), ibv_destroy_srq);
  expect_once(std::exchange(things.cq, nullptr), ibv_destroy_cq);
  expect_once(std::exchange(things.channel, nullptr), ibv_destroy_comp_channel);
  expect_once(std::exchange(things.pd, nullptr), ibv_dealloc_pd);
  expect_once(std::exchange(things.context, nullptr), ibv_close_device);
}

TEST(CompatDestroy, WhatIsInUseStaysAlive) {
  Things things;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ibv_destroy_cq(things.cq), EBUSY);
    EXPECT_EQ(ibv_destroy_comp_channel(things.channel), EBUSY);
    EXPECT_EQ(ibv_dealloc_pd(things.pd), EBUSY);
  }
}

// Pointers into the program's own memory, which is not ours to look at.
TEST(CompatDestroy, WhatWasNeverMade) {
  alignas(64) std::array<char, 4096> memory{};
  const auto foreign = [&]<typename T>() { return reinterpret_cast<T*>(memory.data() + 1024); };
  EXPECT_EQ(ibv_destroy_qp(foreign.operator()<ibv_qp>()), EINVAL);
  EXPECT_EQ(ibv_destroy_srq(foreign.operator()<ibv_srq>()), EINVAL);
  EXPECT_EQ(ibv_destroy_cq(foreign.operator()<ibv_cq>()), EINVAL);
  EXPECT_EQ(ibv_destroy_comp_channel(foreign.operator()<ibv_comp_channel>()), EINVAL);
  EXPECT_EQ(ibv_dereg_mr(foreign.operator()<ibv_mr>()), EINVAL);
  EXPECT_EQ(ibv_dealloc_pd(foreign.operator()<ibv_pd>()), EINVAL);
  EXPECT_EQ(ibv_close_device(foreign.operator()<ibv_context>()), EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_destroy_id(foreign.operator()<rdma_cm_id>()), -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_ack_cm_event(foreign.operator()<rdma_cm_event>()), -1);
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_event_channel(foreign.operator()<rdma_event_channel>());
  rdma_destroy_ep(foreign.operator()<rdma_cm_id>());
}

// What an identifier shows as its device and its domain belongs to all identifiers. Programs give it back all the same,
// and assert that this was right.
TEST(CompatDestroy, WhatTheConnectionManagerMadeCanBeGivenBack) {
  rdma_event_channel* const channel = have(rdma_create_event_channel(), "rdma_create_event_channel");
  for (int round = 0; round < 2; ++round) {
    rdma_cm_id* id = nullptr;
    ASSERT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    sockaddr_in address = loopback(0);
    ASSERT_EQ(rdma_bind_addr(id, plain(address)), 0);
    ibv_context* const context = id->verbs;
    ibv_pd* const domain = id->pd;
    ibv_qp_init_attr wanted{};
    wanted.cap = {.max_send_wr = 4, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 16};
    wanted.qp_type = IBV_QPT_RC;
    ASSERT_EQ(rdma_create_qp(id, nullptr, &wanted), 0);
    EXPECT_EQ(ibv_dealloc_pd(domain), EBUSY);
    rdma_destroy_ep(id);
    EXPECT_EQ(ibv_dealloc_pd(domain), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  }
  rdma_destroy_event_channel(channel);
}

TEST(CompatDestroy, IdentifiersEventsAndChannels) {
  rdma_event_channel* const channel = have(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* id = nullptr;
  ASSERT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
  sockaddr_in to = loopback(7);
  ASSERT_EQ(rdma_resolve_addr(id, nullptr, plain(to), 2000), 0);
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  EXPECT_EQ(rdma_ack_cm_event(event), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_destroy_id(id), 0);
  EXPECT_EQ(rdma_destroy_id(id), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_resolve_addr(id, nullptr, plain(to), 2000), -1);  // what perftest does when it was refused
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_ep(id);
  rdma_destroy_event_channel(channel);
  rdma_destroy_event_channel(channel);
}

// rdma_destroy_qp after ibv_destroy_qp: both orders occur in programs.
TEST(CompatDestroy, TheQueuePairOfAnIdentifier) {
  rdma_cm_id* id = nullptr;
  ASSERT_EQ(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), 0);
  sockaddr_in to = loopback(7);
  ASSERT_EQ(rdma_resolve_addr(id, nullptr, plain(to), 2000), 0);
  ibv_qp_init_attr wanted = Things::qp_wishes(nullptr);
  ASSERT_EQ(rdma_create_qp(id, nullptr, &wanted), 0);
  EXPECT_EQ(ibv_destroy_qp(id->qp), 0);
  rdma_destroy_qp(id);
  EXPECT_EQ(id->qp, nullptr);
  rdma_destroy_ep(id);
}

}  // namespace
}  // namespace weft::compat::test
