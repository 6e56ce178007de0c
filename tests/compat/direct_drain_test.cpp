// SPDX-License-Identifier: Apache-2.0
// SQD of queue pairs that a program connects itself, before and after there is a connection.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "direct_sides.hpp"

namespace weft::compat::test {
namespace {

// Events are there at once, or there are none.
struct Drained : Side {
  Drained() { ::fcntl(context->async_fd, F_SETFL, O_NONBLOCK); }
  int drain(bool notify) {
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_SQD;
    to.en_sqd_async_notify = notify ? 1 : 0;
    return ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
  }
  int go_on() { return modify(qp, IBV_QPS_RTS); }
  [[nodiscard]] bool is_told() const {
    ibv_async_event event{};
    if (ibv_get_async_event(context, &event) != 0) {
      EXPECT_EQ(errno, EAGAIN);
      return false;
    }
    EXPECT_EQ(event.event_type, IBV_EVENT_SQ_DRAINED);
    EXPECT_EQ(event.element.qp, qp);
    ibv_ack_async_event(&event);
    return true;
  }
  [[nodiscard]] bool has_nothing() const {
    ibv_wc wc{};
    return ibv_poll_cq(cq, 1, &wc) == 0;
  }
};

// What was posted to `held` before is not on its way: `other` hears of what it sends afterwards, and of nothing else.
void expect_held(Drained& held, Side& other) {
  held.receive(30);
  ASSERT_EQ(other.post(31), 0);
  expect_done(held.next(), 30);
  expect_done(other.next(), 31);
  ASSERT_EQ(other.post(32, IBV_WR_RDMA_READ, &held), 0);
  expect_done(other.next(), 32);
  EXPECT_EQ(held.query().qp_state, IBV_QPS_SQD);
  EXPECT_TRUE(held.has_nothing());
}

TEST(CompatDirectDrain, BeforeTheConnectionHoldsWhatIsPosted) {
  for (const unsigned run : {0U, 1U, 2U, 3U}) {
    const bool posted_before = (run & 1U) != 0;
    Drained one, other;
    Drained& a = (run & 2U) != 0 ? one : other;  // either of them connects
    Drained& b = &a == &one ? other : one;
    b.receive(20);
    b.receive(21);
    go(a, b.qp->qp_num);
    if (posted_before) {
      ASSERT_EQ(a.post(1), 0);
    }
    ASSERT_EQ(a.drain(true), 0);
    EXPECT_TRUE(a.is_told()) << "nothing is under way";
    ASSERT_EQ(a.drain(true), EINVAL) << "it is in SQD already";
    EXPECT_FALSE(a.is_told());
    EXPECT_EQ(a.qp->state, IBV_QPS_SQD);
    EXPECT_EQ(a.query().sq_draining, 0);
    if (!posted_before) {
      ASSERT_EQ(a.post(1), 0);
    }
    go(b, a.qp->qp_num);
    expect_held(a, b);
    EXPECT_FALSE(a.is_told()) << "it is told once";
    ASSERT_EQ(a.post(2), 0);
    ASSERT_EQ(a.go_on(), 0);
    EXPECT_EQ(a.query().qp_state, IBV_QPS_RTS);
    for (const std::uint64_t id : {1U, 2U}) expect_done(a.next(), id);
    for (const std::uint64_t id : {20U, 21U}) expect_done(b.next(), id);
  }
}

TEST(CompatDirectDrain, ThatEndsBeforeTheConnectionHoldsNothing) {
  Drained a;
  Side b;
  go(a, b.qp->qp_num);
  ASSERT_EQ(a.drain(false), 0);
  EXPECT_FALSE(a.is_told());
  ASSERT_EQ(a.go_on(), 0);
  go(b, a.qp->qp_num);
  exchange(a, b);
}

// The peer stops at a Send that finds no receive, and answers the RDMA Read once there is one.
TEST(CompatDirectDrain, AfterTheConnectionWaitsForWhatIsUnderWay) {
  Drained a;
  Side b;
  go(a, b.qp->qp_num);
  go(b, a.qp->qp_num);
  exchange(b, a);
  ASSERT_EQ(a.post(1), 0);
  expect_done(a.next(), 1);
  ASSERT_EQ(a.post(2, IBV_WR_RDMA_READ, &b), 0);
  ASSERT_EQ(a.drain(true), 0);
  EXPECT_EQ(a.query().sq_draining, 1);
  EXPECT_FALSE(a.is_told());
  ASSERT_EQ(a.post(3), 0);
  b.receive(20);
  b.receive(21);
  expect_done(a.next(), 2);
  wait_until([&] { return a.query().sq_draining == 0; }, "the end of what was under way");
  expect_done(b.next(), 20);
  expect_held(a, b);
  EXPECT_TRUE(a.is_told());
  ASSERT_EQ(a.go_on(), 0);
  expect_done(a.next(), 3);
  expect_done(b.next(), 21);
  ASSERT_EQ(a.drain(false), 0);
  EXPECT_EQ(a.query().sq_draining, 0);
  EXPECT_FALSE(a.is_told()) << "not asked for";
}

// The sends of the second queue pair were posted later, and would be given up later.
TEST(CompatDirectDrain, NoSendIsGivenUpMeanwhile) {
  Drained early, later;
  Side other;
  go(early, kNobody);
  ASSERT_EQ(early.post(1), 0);
  ASSERT_EQ(early.drain(false), 0);
  go(later, kNobody);
  ASSERT_EQ(later.drain(false), 0);
  ASSERT_EQ(later.post(1), 0);
  go(other, kNobody);
  ASSERT_EQ(other.post(1), 0);
  EXPECT_EQ(other.next().status, IBV_WC_RETRY_EXC_ERR);
  for (Drained* const one : {&early, &later}) {
    EXPECT_TRUE(one->has_nothing());
    EXPECT_EQ(one->query().qp_state, IBV_QPS_SQD);
    ASSERT_EQ(one->go_on(), 0);
  }
  for (Drained* const one : {&early, &later}) EXPECT_EQ(one->next().status, IBV_WC_RETRY_EXC_ERR);
}

// It is noticed before or after RTS: that is a matter of time.
TEST(CompatDirectDrain, APeerThatLeavesMeanwhileIsNoticed) {
  Drained a;
  {
    Side b;
    go(a, b.qp->qp_num);
    go(b, a.qp->qp_num);
    exchange(a, b);
    ASSERT_EQ(a.drain(false), 0);
  }
  ASSERT_EQ(a.post(1, IBV_WR_RDMA_READ, &a), 0);  // TCP may still take a Send
  static_cast<void>(a.go_on());
  EXPECT_EQ(a.next().status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(a.query().qp_state, IBV_QPS_ERR);
}

TEST(CompatDirectDrain, OneThatIsConnectedToItself) {
  Drained one;
  go(one, one.qp->qp_num);
  ASSERT_EQ(one.drain(true), 0);
  ASSERT_TRUE(readable(one.context->async_fd));
  EXPECT_TRUE(one.is_told());
  one.receive(20);
  ASSERT_EQ(one.post(1), 0);
  ASSERT_EQ(one.go_on(), 0);
  for (int i = 0; i < 2; ++i) {
    const ibv_wc wc = one.next();
    expect_done(wc, wc.opcode == IBV_WC_RECV ? 20 : 1);
  }
}

TEST(CompatDirectDrain, FollowsRtsAndEndsWithReset) {
  Drained a;
  Side b;
  ASSERT_EQ(modify(a.qp, IBV_QPS_INIT), 0);
  EXPECT_EQ(a.drain(true), EINVAL);
  ASSERT_EQ(to_rtr(a, kNobody), 0);
  EXPECT_EQ(a.drain(true), EINVAL);
  EXPECT_EQ(a.query().qp_state, IBV_QPS_RTR);
  EXPECT_FALSE(a.is_told());
  ASSERT_EQ(to_rts(a), 0);
  ASSERT_EQ(a.drain(false), 0);
  ASSERT_EQ(modify(a.qp, IBV_QPS_RESET), 0);
  go(a, b.qp->qp_num);
  go(b, a.qp->qp_num);
  exchange(a, b);
}

}  // namespace
}  // namespace weft::compat::test
