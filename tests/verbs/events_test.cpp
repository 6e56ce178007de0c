// SPDX-License-Identifier: Apache-2.0
// Events of a completion channel: when there is one, and when there is none.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// The initiator's application does nothing either: it sleeps until its completion channel wakes it.
TEST(Progress, SleepersAreServedByTheProgressThread) {
  Pair pair;
  Buffer near(pair.client, 1 << 20), far(pair.server, 1 << 20);
  far.fill(1);
  const auto sge = near.sge();
  must(pair.client.cq.arm(Arm::kAll), "arm");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaRead,
                                  .flags = SendFlags::kSignaled,
                                  .segments = {&sge, 1},
                                  .remote_address = far.remote(),
                                  .rkey = far.region.rkey()}),
       "read");
  ASSERT_TRUE(has_event(pair.client.channel, 10000ms));
  const auto event = must(pair.client.channel.get_event(), "get_event");
  EXPECT_EQ(event.cq_number, pair.client.cq.number());
  EXPECT_EQ(pair.client.cq.unacknowledged_events(), 1U);
  pair.client.cq.acknowledge_events(1);
  EXPECT_EQ(drain(pair.client.cq), 1U);
  EXPECT_EQ(near.octets, far.octets);
  EXPECT_FALSE(has_event(pair.client.channel, 0ms));  // one event per arm()
}

// RDMAP-5.3-06
TEST(Events, SolicitedOnly) {
  Pair pair;
  for (int i = 0; i < 4; ++i) must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.cq.arm(Arm::kSolicited), "arm");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  EXPECT_FALSE(has_event(pair.server.channel, 50ms));
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSolicited}), "send");
  EXPECT_TRUE(has_event(pair.server.channel, 10000ms));
  must(pair.server.channel.get_event(), "get_event");
  wait_until([&, got = std::size_t{0}]() mutable { return (got += drain(pair.server.cq)) == 2; }, "two receives");
  must(pair.server.cq.arm(Arm::kSolicited), "arm");
  must(pair.server.qp->modify(QpState::kError), "ERROR");  // failures count as solicited
  EXPECT_TRUE(has_event(pair.server.channel, 10000ms));
}

TEST(Events, CompletionsAlreadyQueuedRaiseNone) {
  Pair pair;
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.qp->modify(QpState::kError), "ERROR");
  must(pair.server.cq.arm(Arm::kAll), "arm");
  EXPECT_FALSE(has_event(pair.server.channel, 20ms));
  ASSERT_EQ(fcntl(pair.server.channel.descriptor(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(pair.server.channel.get_event().error().code, Errc::kWouldBlock);
}

// An event that was not taken goes with its queue.
TEST(Events, OfAQueueThatIsGoneDoNotWait) {
  End end;
  {
    auto cq = must(end.device.create_completion_queue({.channel = &end.channel}), "completion queue");
    auto qp = must(end.domain.create_queue_pair({.send_cq = &cq, .receive_cq = &cq}), "queue pair");
    must(qp.modify(QpState::kInit), "INIT");
    must(cq.arm(Arm::kAll), "arm");
    must(qp.post_receive({.wr_id = 1}), "post_receive");
    must(qp.modify(QpState::kError), "ERROR");
    EXPECT_TRUE(has_event(end.channel, 10000ms));
  }
  EXPECT_FALSE(has_event(end.channel, 0ms));
}

}  // namespace
}  // namespace weft::verbs::test
