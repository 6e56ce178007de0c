// SPDX-License-Identifier: Apache-2.0
// Queue pairs that a program connects itself: a peer that is absent, that has gone, or that is not the one it named.
#include <fcntl.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "direct_sides.hpp"
#include "ends.hpp"

namespace weft::compat::test {
namespace {

// The peer stops at a Send that finds no receive, and answers nothing after it.
TEST(CompatDirect, TheOldestSendSaysThatThePeerHasGone) {
  Side a;
  {
    Side b;
    go(a, b.qp->qp_num);
    go(b, a.qp->qp_num);
    ASSERT_EQ(a.post(1), 0);
    expect_done(a.next(), 1);
    ASSERT_EQ(a.post(2, IBV_WR_RDMA_READ, &b), 0);
    ASSERT_EQ(a.post(3, IBV_WR_RDMA_READ, &b), 0);
  }
  EXPECT_EQ(a.next().status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(a.next().status, IBV_WC_WR_FLUSH_ERR);
}

TEST(CompatDirect, AnAbsentPeerExceedsTheRetries) {
  Side one;
  go(one, kNobody);
  ASSERT_EQ(one.post(1), 0);
  ASSERT_EQ(one.post(2), 0);
  one.receive(20);
  ibv_wc wc = one.next();
  EXPECT_EQ(wc.status, IBV_WC_RETRY_EXC_ERR) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, 1U);
  for (int i = 0; i < 2; ++i) {
    wc = one.next();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR) << ibv_wc_status_str(wc.status);
  }
  EXPECT_EQ(one.query().qp_state, IBV_QPS_ERR);
}

// The greater end accepts: it waits for a Request that never comes.
TEST(CompatDirect, AnAcceptingEndExceedsTheRetriesToo) {
  Side one;
  go(one, 0x040000);  // port 1024: less than any that the kernel chooses
  ASSERT_EQ(one.post(1), 0);
  EXPECT_EQ(one.next().status, IBV_WC_RETRY_EXC_ERR);
}

TEST(CompatDirect, OnlyTheEndThatTheProgramNamedIsAccepted) {
  Side a;
  Side b;
  Side c;
  Side& victim = a.qp->qp_num > b.qp->qp_num ? a : b;  // the greater one accepts
  Side& stranger = &victim == &a ? b : a;
  go(victim, c.qp->qp_num);
  go(stranger, victim.qp->qp_num);
  victim.receive(20);
  ASSERT_EQ(stranger.post(1), 0);
  EXPECT_EQ(stranger.next().status, IBV_WC_RETRY_EXC_ERR);
  go(c, victim.qp->qp_num);
  ASSERT_EQ(c.post(2), 0);
  expect_done(c.next(), 2);
  expect_done(victim.next(), 20);
}

// Its private data names no queue pair.
TEST(CompatDirect, AClientOfTheConnectionManagerIsRejected) {
  Side victim;
  go(victim, kNobody);
  victim.receive(20);
  const Events events;
  const End client(resolved(events, static_cast<std::uint16_t>(victim.qp->qp_num >> 8)));
  client.connect();
  static_cast<void>(events.next(RDMA_CM_EVENT_REJECTED));
  ibv_wc wc{};
  EXPECT_EQ(ibv_poll_cq(victim.cq, 1, &wc), 0);
}

// One of two ends says another number, in RTS, than its peer expects. `connected`: there is a connection by then.
struct Disagreement {
  Side a{};
  Side b{};
  Side& wrong;
  Side& other;

  Disagreement(bool wrong_is_lesser, bool connected)
      : wrong((a.qp->qp_num < b.qp->qp_num) == wrong_is_lesser ? a : b), other(&wrong == &a ? b : a) {
    EXPECT_EQ(modify(wrong.qp, IBV_QPS_INIT), 0);
    if (connected) {
      EXPECT_EQ(to_rtr(wrong, other.qp->qp_num, 7), 0);
    }
    go(other, wrong.qp->qp_num, 7, 100);
    if (connected) {
      wrong.receive(21);
      EXPECT_EQ(other.post(1), 0);
      expect_done(wrong.next(), 21);
      expect_done(other.next(), 1);
    } else {
      EXPECT_EQ(to_rtr(wrong, other.qp->qp_num, 7), 0);
    }
    other.receive(20);
    EXPECT_EQ(to_rts(wrong, 101), 0);
    EXPECT_EQ(wrong.post(2), 0);
  }
};

TEST(CompatDirect, SequenceNumbersHaveToAgree) {
  std::vector<std::unique_ptr<Disagreement>> all;  // at once, because each Send waits for two seconds
  for (const bool wrong_is_lesser : {true, false}) {
    for (const bool connected : {true, false})
      all.push_back(std::make_unique<Disagreement>(wrong_is_lesser, connected));
  }
  for (const auto& one : all) {
    EXPECT_EQ(one->wrong.next().status, IBV_WC_RETRY_EXC_ERR);
    ibv_wc wc{};
    EXPECT_FALSE(ibv_poll_cq(one->other.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS) << "the Send arrived";
  }
}

TEST(CompatDirect, ResetWhileThePeerIsAbsent) {
  Side a;
  Side b;
  go(a, kNobody);
  ASSERT_EQ(a.post(1), 0);
  ASSERT_EQ(modify(a.qp, IBV_QPS_RESET), 0);
  go(a, b.qp->qp_num);
  go(b, a.qp->qp_num);
  exchange(a, b);
}

void connect(const Side& a, const Side& b) {
  go(a, b.qp->qp_num);
  go(b, a.qp->qp_num);
}

void send_with_a_wrong_key(Side& side) {
  ibv_mr wrong = *side.mr;
  wrong.lkey ^= 0x100;
  ibv_mr* const right = std::exchange(side.mr, &wrong);
  ASSERT_EQ(side.post(7), 0);
  side.mr = right;
  EXPECT_EQ(side.next().status, IBV_WC_LOC_PROT_ERR);
}

// As on an adapter: nothing tells a queue pair that its peer has gone or failed, until it sends.
TEST(CompatDirect, APeerThatHasGoneIsNoticedByTheNextSend) {
  const std::vector<std::function<void(std::unique_ptr<Side>&)>> ways{
      [](auto& peer) { peer.reset(); }, [](auto& peer) { EXPECT_EQ(modify(peer->qp, IBV_QPS_ERR), 0); },
      [](auto& peer) { EXPECT_EQ(modify(peer->qp, IBV_QPS_RESET), 0); },
      [](auto& peer) { send_with_a_wrong_key(*peer); }};
  struct Pair {
    Side a{};
    std::unique_ptr<Side> b = std::make_unique<Side>();
  };
  std::vector<std::unique_ptr<Pair>> all;  // at once, because each Send waits for two seconds
  for (const auto& leave : ways) {
    const auto& [a, b] = *all.emplace_back(std::make_unique<Pair>());
    connect(a, *b);
    exchange(all.back()->a, *b);
    all.back()->a.receive(21);
    leave(all.back()->b);
  }
  ibv_wc wc{};
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < end) {
    for (const auto& pair : all) ASSERT_EQ(ibv_poll_cq(pair->a.cq, 1, &wc), 0) << ibv_wc_status_str(wc.status);
  }
  for (const auto& pair : all) {
    EXPECT_EQ(pair->a.query().qp_state, IBV_QPS_RTS);
    ASSERT_EQ(pair->a.post(1), 0);
  }
  for (const auto& pair : all) {
    wc = pair->a.next();
    EXPECT_EQ(wc.status, IBV_WC_RETRY_EXC_ERR) << ibv_wc_status_str(wc.status);
    EXPECT_EQ(wc.wr_id, 1U);
    EXPECT_EQ(pair->a.next().status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(pair->a.query().qp_state, IBV_QPS_ERR);
  }
}

// Its Send is so long that TCP does not take all of it, and the peer has no receive.
TEST(CompatDirect, TheOldestSendSaysThatThePeerHasFailed) {
  Side a;
  Side b;
  connect(a, b);
  exchange(a, b);
  std::vector<char> octets(32U << 20U);
  ibv_mr* const mr = have(ibv_reg_mr(a.pd, octets.data(), octets.size(), 0), "ibv_reg_mr");
  ibv_sge all{.addr = reinterpret_cast<std::uintptr_t>(octets.data()), .length = 32U << 20U, .lkey = mr->lkey};
  for (const std::uint64_t id : {1U, 2U}) {
    ibv_send_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &all;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
  }
  send_with_a_wrong_key(b);
  EXPECT_EQ(a.next().status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(a.next().status, IBV_WC_WR_FLUSH_ERR);
  ibv_dereg_mr(mr);
}

// TCP takes the Write, and so it completes before the peer refuses it. The next send has the error.
TEST(CompatDirect, ARefusedWriteThatHasCompletedIsTheErrorOfTheOldestSend) {
  Side a;
  Side b;
  connect(a, b);
  exchange(a, b);
  ibv_mr key = *b.mr;
  ASSERT_EQ(ibv_dereg_mr(std::exchange(b.mr, &key)), 0);
  ASSERT_EQ(a.post(1, IBV_WR_RDMA_WRITE, &b), 0);
  b.mr = nullptr;
  expect_done(a.next(), 1);
  while (a.query().qp_state != IBV_QPS_ERR) std::this_thread::yield();
  ASSERT_EQ(a.post(2), 0);
  ASSERT_EQ(a.post(3), 0);
  EXPECT_EQ(a.next().status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(a.next().status, IBV_WC_WR_FLUSH_ERR);
  // Only the responder has an asynchronous event.
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(b.context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
  ibv_ack_async_event(&event);
  ::fcntl(a.context->async_fd, F_SETFL, O_NONBLOCK);
  EXPECT_EQ(ibv_get_async_event(a.context, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace
}  // namespace weft::compat::test
