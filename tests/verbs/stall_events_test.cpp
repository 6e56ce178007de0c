// SPDX-License-Identifier: Apache-2.0
// A stream that has to wait is told to a program that has asked for it (SEC-6.4.4-01), and to no other.
#include "live_ends.hpp"
#include "served.hpp"

namespace weft::verbs::test {
namespace {

void expect_stall(End& end, StreamWait wait) {
  const AsyncEvent event = end.next_async();
  EXPECT_EQ(event.type, AsyncEventType::kStreamStalled) << to_string(event.type);
  EXPECT_EQ(event.waits_for, wait) << to_string(event.waits_for);
  EXPECT_EQ(event.number, end.qp->number());
  EXPECT_FALSE(event.error);
}

TEST(StallEvents, ASendWithoutReceive) {
  Pair pair({.server_policy = {.timeouts = {.tell_stalls_after = 20ms}}});
  for (int i = 0; i < 2; ++i) {
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
    expect_stall(pair.server, StreamWait::kReceive);
    EXPECT_FALSE(pair.server.async_within(60ms)) << "once for each";
    must(pair.server.qp->post_receive(ReceiveRequest{}), "post_receive");
    EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  }
  EXPECT_FALSE(pair.client.async_within(0ms)) << "it has not asked for it, nor does it wait";
}

TEST(StallEvents, AClosedWindow) {
  Served served({.timeouts = {.tell_stalls_after = 20ms}}, Served::kMuch);
  served.send_all();
  expect_stall(served.end, StreamWait::kPeerWindow);
}

TEST(StallEvents, ReadsThatAreNotAnswered) {
  Served served({.timeouts = {.tell_stalls_after = 20ms}});
  for (std::uint32_t i = 0; i <= Served::kDepth; ++i) served.read();
  expect_stall(served.end, StreamWait::kAnswers);
}

TEST(StallEvents, NoneUnlessTheProgramAsks) {
  Pair pair;
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  wait_until([&] { return live_ends().server.waits_for == StreamWait::kReceive; }, "the server is to wait");
  EXPECT_FALSE(pair.server.async_within(60ms));
}

}  // namespace
}  // namespace weft::verbs::test
