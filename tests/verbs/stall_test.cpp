// SPDX-License-Identifier: Apache-2.0
// A peer that goes away while its Send waits for a receive. Its stream is not read meanwhile, and must end all the
// same.
#include <gtest/gtest.h>

#include "tests/verbs/loopback.hpp"

namespace weft::verbs::test {
namespace {

// The server has read the client's Send and waits for a receive. (Were it slow, the tests would pass all the same.)
void stall(Pair& pair) {
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 30ms));
}

TEST(Stall, AResetIsNoticedAtOnce) {
  Pair pair;  // the receive would be waited for three times as long as kPatience
  stall(pair);
  must(pair.client.qp->modify(QpState::kError), "ERROR");  // aborts the connection
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.server.qp->state(), QpState::kError);
  must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  EXPECT_EQ(pair.server.next().status, WcStatus::kFlushed);
}

TEST(Stall, AFinEndsItWhenNoReceiveComesInTime) {
  Pair pair({.server_policy = {.no_receive_timeout = 50ms, .close_timeout = 60s}});
  stall(pair);
  must(pair.client.id->disconnect(), "disconnect");
  EXPECT_EQ(pair.server.next_async().error->code, 0x02);
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
}

TEST(Stall, AFinWaitsForTheReceive) {
  Pair pair;
  stall(pair);
  must(pair.client.id->disconnect(), "disconnect");
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 30ms));
  must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
}

}  // namespace
}  // namespace weft::verbs::test
