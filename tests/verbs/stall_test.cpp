// SPDX-License-Identifier: Apache-2.0
// A peer that goes away while its Send waits for a receive. Its stream is not read meanwhile, and must end all the
// same.
#include <gtest/gtest.h>

#include "tests/transport/rest.hpp"
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
  Pair pair({.server_policy = {.timeouts = {.no_receive = 50ms, .close = 60s}}});
  stall(pair);
  must(pair.client.id->disconnect(), "disconnect");
  EXPECT_EQ(pair.server.next_async().error->code, 0x02);
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
}

// No end gives up here: neither time is ever over.
const Policy kPatient{.timeouts = {.no_receive = 600s, .finish = 600s, .close = 600s}};

// Both ends hear of it at once, and the message is there for a receive that is posted.
TEST(Stall, AFinIsToldAtOnceAndWhatWasSentCanStillBeReceived) {
  Pair pair({.client_policy = kPatient, .server_policy = kPatient});
  stall(pair);
  must(pair.client.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.server.qp->state(), QpState::kRts);
  must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the end");
  EXPECT_FALSE(pair.events.get_event(0ms)) << "the end is told once";
}

// Before or after the peer's own end: an application that asks for the end posts no receive any more.
TEST(Stall, ADisconnectDoesNotWaitBehindIt) {
  for (const bool first : {false, true}) {
    Pair pair({.client_policy = kPatient, .server_policy = kPatient});
    stall(pair);
    must((first ? pair.server : pair.client).id->disconnect(), "disconnect");
    if (!first) pair.event(ConnectionEventType::kDisconnected), pair.event(ConnectionEventType::kDisconnected);
    must(pair.server.id->disconnect(), "disconnect");
    if (first) pair.event(ConnectionEventType::kDisconnected), pair.event(ConnectionEventType::kDisconnected);
    wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the end");
    must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
    EXPECT_EQ(pair.server.next().status, WcStatus::kFlushed);
  }
}

// A FIN that was told wakes no thread again, nor does the end of both directions: an idle process uses no processor
// time.
TEST(Stall, AFinThatWasToldWakesNobody) {
  if (!transport::test::rest_can_be_seen()) GTEST_SKIP() << transport::test::kRestIsHidden;
  Pair pair({.client_policy = kPatient, .server_policy = kPatient});
  stall(pair);
  must(pair.client.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  // A socket that stays ready for a thread that does not serve it would leave that thread no rest.
  transport::test::expect_rest();
}

// --- Sends that nobody receives, more than the sockets hold (qperf's rc_bi_bw ends so at both ends)

constexpr std::size_t kLong = 1 << 20;

// Until its socket takes nothing more, so that no FIN could go out after them either.
void post_sends(End& end, Buffer& from, int count) {
  const auto source = from.sge();
  for (int i = 0; i < count; ++i) {
    must(end.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&source, 1}}),
         "post_send");
  }
}

PairOptions deep(const Policy& policy) {
  const EndOptions end{.queue_pair = {.max_send_wr = 64}};
  return {.client_policy = policy, .server_policy = policy, .client = end, .server = end};
}

void expect_flushes(End& end, int most) {
  std::optional<WorkCompletion> done;
  int all = 0;
  while ((done = end.next_within(end.cq, 0ms))) {
    ++all;
    EXPECT_TRUE(done->status == WcStatus::kSuccess || done->status == WcStatus::kFlushed);
  }
  EXPECT_EQ(all, most);
  EXPECT_TRUE(all != 0);
}

TEST(Stall, BothEndsThatDisconnectFlush) {
  Pair pair(deep(kPatient));
  Buffer of_client(pair.client, kLong), of_server(pair.server, kLong);
  post_sends(pair.client, of_client, 48);
  post_sends(pair.server, of_server, 48);
  must(pair.client.id->disconnect(), "disconnect");
  must(pair.server.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  expect_flushes(pair.client, 48);
  expect_flushes(pair.server, 48);
}

// The other end does not even hear of it: it reads nothing while it waits for a receive.
TEST(Stall, OneEndThatDisconnectsFlushes) {
  Pair pair(deep(kPatient));
  Buffer of_client(pair.client, kLong);
  post_sends(pair.client, of_client, 48);
  must(pair.client.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
  expect_flushes(pair.client, 48);
  pair.event(ConnectionEventType::kDisconnected);  // its reset
}

// What is posted after the disconnect is flushed at the end of what waits for the peer.
TEST(Stall, ASendAfterTheDisconnectIsFlushedLast) {
  Pair pair(deep(kPatient));
  Buffer of_client(pair.client, kLong);
  post_sends(pair.client, of_client, 48);
  must(pair.client.id->disconnect(), "disconnect");
  must(pair.client.qp->post_send({.wr_id = 777, .opcode = SendOpcode::kSend}), "post_send");
  pair.event(ConnectionEventType::kDisconnected);
  WorkCompletion last;
  for (int i = 0; i < 49; ++i) last = pair.client.next();
  EXPECT_EQ(last.wr_id, 777U);
  EXPECT_EQ(last.status, WcStatus::kFlushed);
  pair.event(ConnectionEventType::kDisconnected);  // its reset
}

// All that was completed before the disconnect is still received: only the waiting user is let go.
TEST(Stall, WhatWasCompletedBeforeADisconnectIsNotLost) {
  Pair pair(deep(kPatient));
  constexpr int kSends = 12;
  Buffer from(pair.client, 64 * 1024), to(pair.server, 64 * 1024);
  post_sends(pair.client, from, kSends);
  for (int i = 0; i < kSends; ++i) ASSERT_EQ(pair.client.next().status, WcStatus::kSuccess);
  must(pair.client.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
  const auto sink = to.sge();
  for (int i = 0; i < kSends; ++i) must(pair.server.qp->post_receive({.segments = {&sink, 1}}), "post_receive");
  for (int i = 0; i < kSends; ++i) EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  pair.event(ConnectionEventType::kDisconnected);
}

// A user that is let go before its peer has closed may take everything down.
TEST(Stall, AQueuePairMayGoWhenItsUserWasLetGo) {
  PairOptions options = deep(kPatient);
  options.client_policy.startup.same_host = SameHost::kOff;  // whose buffers take all of it
  Pair pair(options);
  Buffer from(pair.client, 64 * 1024);
  post_sends(pair.client, from, 12);
  for (int i = 0; i < 12; ++i) ASSERT_EQ(pair.client.next().status, WcStatus::kSuccess);
  must(pair.client.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.client.qp->state(), QpState::kError);
  pair.client.qp.reset();
  pair.client.id.reset();
  must(pair.server.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
}

}  // namespace
}  // namespace weft::verbs::test
