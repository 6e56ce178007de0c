// SPDX-License-Identifier: Apache-2.0
// Queue pairs that a program connects itself by ibv_modify_qp, as ibv_rc_pingpong does, within one process.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "direct_sides.hpp"
#include "ends.hpp"

namespace weft::compat::test {
namespace {

TEST(CompatDirect, TwoQueuePairsConnectWhicheverIsFirst) {
  for (const bool lesser_first : {true, false}) {
    Side a;
    Side b;
    Side& lesser = a.qp->qp_num < b.qp->qp_num ? a : b;
    Side& greater = &lesser == &a ? b : a;
    Side& first = lesser_first ? lesser : greater;
    Side& second = lesser_first ? greater : lesser;
    go(first, second.qp->qp_num, 1, 2);
    go(second, first.qp->qp_num, 2, 1);
    exchange(first, second);
    exchange(second, first);
  }
}

TEST(CompatDirect, SendsWaitForThePeerInOrder) {
  Side a;
  Side b;
  go(a, b.qp->qp_num);
  std::memcpy(a.octets.data(), "inlined", 8);
  ASSERT_EQ(a.post(1, IBV_WR_SEND, nullptr, IBV_SEND_INLINE), 0);
  std::memcpy(a.octets.data(), "written", 8);
  ASSERT_EQ(a.post(2, IBV_WR_RDMA_WRITE, &b), 0);
  ASSERT_EQ(a.post(3), 0);
  ASSERT_EQ(a.post(4), 0);
  constexpr std::uint64_t kLast = 32;  // the places that the queue has
  for (std::uint64_t id = 5; id <= kLast; ++id) ASSERT_EQ(a.post(id, IBV_WR_RDMA_WRITE, &b), 0);
  EXPECT_EQ(a.post(kLast + 1), ENOMEM) << "early sends occupy places of the queue";
  ASSERT_EQ(modify(b.qp, IBV_QPS_INIT), 0);
  for (std::uint64_t id : {20U, 21U, 22U}) b.receive(id);
  ASSERT_EQ(to_rtr(b, a.qp->qp_num), 0);
  ASSERT_EQ(to_rts(b), 0);
  for (std::uint64_t id = 1; id <= kLast; ++id) expect_done(a.next(), id);
  for (std::uint64_t id : {20U, 21U, 22U}) expect_done(b.next(), id);
  EXPECT_STREQ(b.octets.data(), "written");
}

TEST(CompatDirect, WritesAndReadsReachThePeersMemory) {
  Side a;
  Side b;
  go(a, b.qp->qp_num);
  go(b, a.qp->qp_num);
  std::memcpy(a.octets.data(), "over   ", 8);
  ASSERT_EQ(a.post(1, IBV_WR_RDMA_WRITE, &b), 0);
  expect_done(a.next(), 1);
  std::memset(a.octets.data(), 0, 8);
  ASSERT_EQ(a.post(2, IBV_WR_RDMA_READ, &b), 0);
  expect_done(a.next(), 2);
  EXPECT_STREQ(a.octets.data(), "over   ");
}

TEST(CompatDirect, ASendWithImmediateTakesOneReceiveAndCompletesOnce) {
  Side a;
  Side b;
  go(a, b.qp->qp_num);
  go(b, a.qp->qp_num);
  std::memcpy(a.octets.data(), "letters", 8);
  for (std::uint64_t id : {20U, 21U, 22U}) b.receive(id);
  ASSERT_EQ(a.post(1, IBV_WR_SEND_WITH_IMM), 0);
  ASSERT_EQ(a.post(2), 0);
  ASSERT_EQ(a.post(3, IBV_WR_RDMA_WRITE_WITH_IMM, &b), 0);
  for (std::uint64_t id : {1U, 2U, 3U}) expect_done(a.next(), id);
  ibv_wc wc = b.next();
  expect_done(wc, 20);
  EXPECT_EQ(wc.opcode, IBV_WC_RECV);
  EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.imm_data, htonl(0x01020304));
  EXPECT_EQ(wc.byte_len, 8U);
  wc = b.next();
  expect_done(wc, 21);
  EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, 0U);
  wc = b.next();
  expect_done(wc, 22);
  EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_STREQ(b.octets.data(), "letters") << "which all three wrote";
}

// Each bind is given a key of its own, also the first one and one that is posted while another waits.
TEST(CompatDirect, AWindowOfType1IsBoundTwiceBeforeThereIsAConnection) {
  Side a;
  Side b;
  ibv_mr* const base = have(
      ibv_reg_mr(a.pd, a.octets.data(), a.octets.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND), "ibv_reg_mr");
  ibv_mw* const window = have(ibv_alloc_mw(a.pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
  go(a, b.qp->qp_num);
  ibv_mw_bind bind{};
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_info = {.mr = base,
                    .addr = reinterpret_cast<std::uintptr_t>(a.octets.data()),
                    .length = 8,
                    .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
  std::array<std::uint32_t, 2> keys{};
  for (std::uint64_t id : {1U, 2U}) {
    bind.wr_id = id;
    ASSERT_EQ(ibv_bind_mw(a.qp, window, &bind), 0);
    keys.at(id - 1) = window->rkey;
  }
  EXPECT_NE(keys[0], keys[1]);
  go(b, a.qp->qp_num);
  for (std::uint64_t id : {1U, 2U}) expect_done(a.next(), id);
  ASSERT_EQ(ibv_dealloc_mw(window), 0);
  ASSERT_EQ(ibv_dereg_mr(base), 0);
}

using Modify = int (*)(ibv_qp*, ibv_qp_attr*, int);

// ibv_modify_qp, called from a library of that name (as_uct.cpp).
Modify modify_as_uct() {
  void* const library = ::dlopen(WEFT_AS_UCT, RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  return reinterpret_cast<Modify>(::dlsym(library, "modify_as_uct"));
}

// UCX takes the completion of an RDMA Write for its placement, as on InfiniBand; others are told as soon as TCP has it.
TEST(CompatDirect, UcxWaitsUntilItsWritesArePlaced) {
  for (const bool as_uct : {true, false}) {
    Side a;
    Side b;
    ASSERT_EQ(modify(a.qp, IBV_QPS_INIT), 0);
    ibv_qp_attr to = rtr(gid_of(a.context), b.qp->qp_num, 0);
    ASSERT_EQ(as_uct ? modify_as_uct()(a.qp, &to, kRtrMask) : ibv_modify_qp(a.qp, &to, kRtrMask), 0);
    ASSERT_EQ(to_rts(a), 0);
    go(b, a.qp->qp_num);
    std::memcpy(a.octets.data(), "letters", 8);
    ASSERT_EQ(a.post(1, IBV_WR_RDMA_WRITE, &b), 0);
    expect_done(a.next(), 1);
    if (as_uct) {
      EXPECT_STREQ(b.octets.data(), "letters");
    }
    const Side other;  // of another protection domain than b
    ibv_sge place = a.sge();
    ibv_send_wr wr{}, *bad = nullptr;
    wr.wr_id = 2;
    wr.sg_list = &place;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.rkey = other.mr->rkey;
    ASSERT_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
    const ibv_wc wc = a.next();
    EXPECT_EQ(wc.wr_id, 2U);
    EXPECT_EQ(wc.status, as_uct ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
  }
}

TEST(CompatDirect, OneThatOnlyReceivesMayStayInRtr) {
  Side a;
  Side b;
  ASSERT_EQ(modify(b.qp, IBV_QPS_INIT), 0);
  b.receive(20);
  ASSERT_EQ(to_rtr(b, a.qp->qp_num), 0);
  EXPECT_EQ(b.post(9), EINVAL) << "sends need RTS";
  go(a, b.qp->qp_num);
  ASSERT_EQ(a.post(1), 0);
  expect_done(a.next(), 1);
  expect_done(b.next(), 20);
  EXPECT_EQ(b.post(9), EINVAL) << "sends need RTS, also once there is a connection";
}

TEST(CompatDirect, AQueuePairConnectedToItselfReceivesWhatItSends) {
  Side one;
  ASSERT_EQ(modify(one.qp, IBV_QPS_INIT), 0);
  one.receive(20);
  ASSERT_EQ(to_rtr(one, one.qp->qp_num), 0);
  ASSERT_EQ(to_rts(one), 0);
  ASSERT_EQ(one.post(1), 0);
  for (int i = 0; i < 2; ++i) {
    const ibv_wc wc = one.next();
    expect_done(wc, wc.opcode == IBV_WC_RECV ? 20 : 1);
    EXPECT_EQ(wc.qp_num, one.qp->qp_num);
  }
  ASSERT_EQ(one.post(2, IBV_WR_RDMA_READ, &one), 0);
  expect_done(one.next(), 2);
}

// UCX ends a process that hears of it twice.
TEST(CompatDirect, OneThatIsConnectedToItselfTakesItsLastReceiveOnce) {
  Side one;
  ibv_qp_init_attr wanted = Things::qp_wishes(one.cq);
  wanted.srq = one.srq;
  ibv_destroy_qp(one.qp);
  one.qp = have(ibv_create_qp(one.pd, &wanted), "ibv_create_qp");
  ASSERT_EQ(::fcntl(one.context->async_fd, F_SETFL, O_NONBLOCK), 0);
  go(one, one.qp->qp_num);
  ASSERT_EQ(one.post(1, IBV_WR_RDMA_READ, &one), 0);
  expect_done(one.next(), 1);
  ASSERT_EQ(modify(one.qp, IBV_QPS_ERR), 0);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(one.context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(event.element.qp, one.qp);
  ibv_ack_async_event(&event);
  EXPECT_EQ(ibv_get_async_event(one.context, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(CompatDirect, ResetAndASecondConnect) {
  Side a;
  Side b;
  for (int i = 0; i < 3; ++i) {
    go(a, b.qp->qp_num);
    go(b, a.qp->qp_num);
    exchange(a, b);
    ASSERT_EQ(modify(a.qp, IBV_QPS_RESET), 0);
    ASSERT_EQ(modify(b.qp, IBV_QPS_RESET), 0);
    EXPECT_EQ(a.query().qp_state, IBV_QPS_RESET);
    ibv_wc wc{};
    EXPECT_EQ(ibv_poll_cq(a.cq, 1, &wc), 0) << "RESET leaves no completion";
  }
}

TEST(CompatDirect, ErrorFlushesWhatWaits) {
  Side one;
  go(one, kNobody);
  ASSERT_EQ(one.post(1), 0);
  ASSERT_EQ(modify(one.qp, IBV_QPS_ERR), 0);
  EXPECT_EQ(one.next().status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(one.post(2), 0);
  EXPECT_EQ(one.next().status, IBV_WC_WR_FLUSH_ERR);
}

TEST(CompatDirect, StatesAndAttributesAreWhatTheProgramSet) {
  Side one;
  EXPECT_EQ(one.qp->state, IBV_QPS_RESET);
  ASSERT_EQ(modify(one.qp, IBV_QPS_INIT), 0);
  EXPECT_EQ(one.query().qp_state, IBV_QPS_INIT);
  ASSERT_EQ(to_rtr(one, kNobody, 0x123456), 0);
  EXPECT_EQ(one.qp->state, IBV_QPS_RTR);
  EXPECT_EQ(modify(one.qp, IBV_QPS_INIT), EINVAL);
  ASSERT_EQ(to_rts(one, 0x654321), 0);
  EXPECT_EQ(modify(one.qp, IBV_QPS_INIT), EINVAL);
  const ibv_qp_attr set = one.query();
  EXPECT_EQ(set.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(set.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(set.dest_qp_num, kNobody);
  EXPECT_EQ(set.rq_psn, 0x123456U);
  EXPECT_EQ(set.sq_psn, 0x654321U);
  EXPECT_EQ(set.max_dest_rd_atomic, 1);
  EXPECT_EQ(set.max_rd_atomic, 1);
  EXPECT_EQ(set.min_rnr_timer, 12);
  EXPECT_EQ(set.timeout, 14);
  EXPECT_EQ(set.retry_cnt, 7);
  EXPECT_EQ(set.rnr_retry, 7);
  EXPECT_EQ(set.ah_attr.is_global, 1);
}

TEST(CompatDirect, WhatCannotConnectIsRefusedWithErrno) {
  Side one;
  ASSERT_EQ(modify(one.qp, IBV_QPS_INIT), 0);
  const auto refused = [&](ibv_qp_attr to, int mask) {
    errno = 0;
    EXPECT_EQ(ibv_modify_qp(one.qp, &to, mask), EINVAL);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(one.query().qp_state, IBV_QPS_INIT);
  };
  const ibv_gid gid = gid_of(one.context);
  for (const int bit :
       {IBV_QP_PATH_MTU, IBV_QP_DEST_QPN, IBV_QP_RQ_PSN, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER}) {
    refused(rtr(gid, kNobody, 0), kRtrMask & ~bit);
  }
  refused(rtr({}, kNobody, 0), kRtrMask);
  refused(rtr(gid, 0x1000000, 0), kRtrMask);
  ibv_qp_attr wrong = rtr(gid, kNobody, 0);
  wrong.ah_attr.port_num = 2;
  refused(wrong, kRtrMask);
  wrong = rtr(gid, kNobody, 0);
  wrong.ah_attr.grh.sgid_index = 1;
  refused(wrong, kRtrMask);
  refused(rts(0), kRtsMask);  // before RTR
}

TEST(CompatDirect, EachStateTakesItsOwnAttributes) {
  Side one;
  go(one, kNobody);
  const auto modified = [&](ibv_qp_state state, int mask) {
    ibv_qp_attr to = rts(0);
    to.qp_state = state;
    return ibv_modify_qp(one.qp, &to, mask);
  };
  EXPECT_EQ(modified(IBV_QPS_RTS, IBV_QP_SQ_PSN), EINVAL) << "no change of state";
  EXPECT_EQ(modified(IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_SQ_PSN), EINVAL);
  EXPECT_EQ(modified(IBV_QPS_RTR, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(modified(IBV_QPS_INIT, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(modified(IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_TIMEOUT), EINVAL);
  EXPECT_EQ(modified(IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER), 0);
  EXPECT_EQ(modified(IBV_QPS_SQD, IBV_QP_STATE), 0);
  EXPECT_EQ(modified(IBV_QPS_SQD, IBV_QP_TIMEOUT), 0);
  EXPECT_EQ(modified(IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT), EINVAL);
  EXPECT_EQ(modified(IBV_QPS_RTS, IBV_QP_STATE), 0);
  EXPECT_EQ(modified(IBV_QPS_ERR, IBV_QP_STATE), 0);
  EXPECT_EQ(modified(IBV_QPS_RTS, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(modified(IBV_QPS_RESET, IBV_QP_STATE), 0);
  EXPECT_EQ(one.query().qp_state, IBV_QPS_RESET);
}

// What max_dest_rd_atomic says, whatever the memory grants.
TEST(CompatDirect, APeerThatAnswersNoReadsRefusesThem) {
  Side a;
  Side b;
  go(a, b.qp->qp_num);
  ASSERT_EQ(modify(b.qp, IBV_QPS_INIT), 0);
  ibv_qp_attr to = rtr(gid_of(b.context), a.qp->qp_num, 0);
  to.max_dest_rd_atomic = 0;
  ASSERT_EQ(ibv_modify_qp(b.qp, &to, kRtrMask), 0);
  ASSERT_EQ(to_rts(b), 0);
  ASSERT_EQ(a.post(1, IBV_WR_RDMA_WRITE, &b), 0);
  expect_done(a.next(), 1);
  ASSERT_EQ(a.post(2, IBV_WR_RDMA_READ, &b), 0);
  EXPECT_EQ(a.next().status, IBV_WC_REM_ACCESS_ERR);
}

TEST(CompatDirect, ALidNamesAPeerOfTheSameNetwork) {
  Side a;
  Side b;
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(a.context, 1, &port), 0);
  EXPECT_EQ(port.lid, 1) << "127.0.0.1";
  for (const Side* one : {&a, &b}) {
    ASSERT_EQ(modify(one->qp, IBV_QPS_INIT), 0);
    ibv_qp_attr to = rtr({}, one == &a ? b.qp->qp_num : a.qp->qp_num, 0);
    to.ah_attr.is_global = 0;
    to.ah_attr.dlid = port.lid;
    ASSERT_EQ(ibv_modify_qp(one->qp, &to, kRtrMask), 0);
    ASSERT_EQ(to_rts(*one), 0);
  }
  exchange(a, b);
}

TEST(CompatDirect, UnreliableConnectionsNeedFewerAttributes) {
  Side a;
  ibv_qp_init_attr wanted = Things::qp_wishes(a.cq);
  wanted.qp_type = IBV_QPT_UC;
  ibv_qp* const uc = have(ibv_create_qp(a.pd, &wanted), "ibv_create_qp");
  ASSERT_EQ(modify(uc, IBV_QPS_INIT), 0);
  ibv_qp_attr to = rtr(gid_of(a.context), uc->qp_num, 0);
  ASSERT_EQ(ibv_modify_qp(uc, &to, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN), 0);
  to = rts(0);
  ASSERT_EQ(ibv_modify_qp(uc, &to, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
  ibv_qp* const rc = std::exchange(a.qp, uc);
  EXPECT_EQ(a.post(1, IBV_WR_RDMA_READ, &a), EINVAL);
  ASSERT_EQ(a.post(2, IBV_WR_RDMA_WRITE, &a), 0);
  expect_done(a.next(), 2);
  a.qp = rc;
  ibv_destroy_qp(uc);
}

TEST(CompatDirect, MoreThan256QueuePairsHaveNumbersOfTheirOwn) {
  Side one;
  std::vector<ibv_qp*> many;
  std::vector<std::uint32_t> ports;
  for (int i = 0; i < 300; ++i) {
    many.push_back(one.make_qp(one.cq));
    ports.push_back(many.back()->qp_num >> 8);
  }
  std::ranges::sort(ports);
  const auto kinds = std::ranges::unique(ports);
  EXPECT_EQ(static_cast<std::size_t>(kinds.begin() - ports.begin()), 2U);
  for (ibv_qp* qp : many) EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

}  // namespace
}  // namespace weft::compat::test
