// SPDX-License-Identifier: Apache-2.0
// The list of a process's connections (SEC-6.4.2-01): the other end of each, how far it has come, and what it waits for.
#include "verbs/live_streams.hpp"

#include <thread>

#include "listening.hpp"
#include "live_ends.hpp"
#include "served.hpp"

namespace weft::verbs::test {
namespace {

LiveStream only() {
  const auto all = live_streams();
  if (all.size() != 1) throw std::runtime_error("not one stream");
  return all.front();
}

struct LiveStreams : testing::Test {
  void SetUp() override {
    wait_until([] { return live_streams().empty(); }, "the end of the test before");
  }
};

TEST_F(LiveStreams, NoneWithoutARuntime) { EXPECT_TRUE(live_streams().empty()); }

TEST_F(LiveStreams, BothEndsOfAConnection) {
  Pair pair;
  const auto [client, server] = live_ends();
  EXPECT_EQ(client.connection, pair.client.id->number());
  EXPECT_EQ(server.connection, pair.server.id->number());
  EXPECT_EQ(client.local, pair.client.id->local_address());
  EXPECT_EQ(client.peer, pair.listener.local_address());
  EXPECT_EQ(server.local, client.peer);
  EXPECT_EQ(server.peer, client.local);
  EXPECT_TRUE(client.initiator && !server.initiator);
  EXPECT_EQ(client.queue_pair, pair.client.qp->number());
  EXPECT_EQ(server.queue_pair, pair.server.qp->number());
  for (const LiveStream& one : {client, server}) {
    EXPECT_EQ(one.stage, StreamStage::kEstablished);
    EXPECT_EQ(one.waits_for, StreamWait::kNothing);
    EXPECT_GE(one.age.count(), 0);
  }
  EXPECT_EQ(client.octets_out, server.octets_in) << "the startup frames";
  EXPECT_EQ(server.octets_out, client.octets_in);
  EXPECT_GE(client.octets_out, 20U);
}

TEST_F(LiveStreams, CountsWhatCrossesTheWire) {
  constexpr std::size_t kSize = 1 << 20;  // some of it is read straight to its place
  Pair pair;
  Buffer from(pair.client, kSize), to(pair.server, kSize);
  const auto before = live_ends();
  const Sge into = to.sge(), sge = from.sge();
  must(pair.server.qp->post_receive({.segments = {&into, 1}}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&sge, 1}}), "post_send");
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  const auto after = live_ends();
  const auto sent = after.client.octets_out - before.client.octets_out;
  EXPECT_GT(sent, kSize);
  EXPECT_LT(sent, kSize + kSize / 8);
  EXPECT_EQ(after.server.octets_in - before.server.octets_in, sent);
}

TEST_F(LiveStreams, AStartupHasNoQueuePair) {
  const Server server;
  const auto peer = silent(server);
  wait_for_half_open(server, 1);
  const LiveStream one = only();
  EXPECT_EQ(one.stage, StreamStage::kStartup);
  EXPECT_EQ(one.queue_pair, 0U);
  EXPECT_EQ(one.peer.port, port_of(peer));
  EXPECT_EQ(one.octets_in + one.octets_out, 0U);
}

TEST_F(LiveStreams, WhatIsOverIsLeftOut) {
  Pair pair;
  pair.disconnect();
  wait_until([] { return live_streams().empty(); }, "the end of both");
}

TEST_F(LiveStreams, ASendWithoutReceive) {
  Pair pair;
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  wait_until([&] { return live_ends().server.waits_for == StreamWait::kReceive; }, "the server is to wait");
  EXPECT_EQ(live_ends().client.waits_for, StreamWait::kNothing);
  must(pair.server.qp->post_receive(ReceiveRequest{}), "post_receive");
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  EXPECT_EQ(live_ends().server.waits_for, StreamWait::kNothing);
}

TEST_F(LiveStreams, AClosedWindow) {
  Served served({}, Served::kMuch);
  served.send_all();
  wait_until([] { return only().waits_for == StreamWait::kPeerWindow; }, "the window is to close");
}

TEST_F(LiveStreams, ReadsBeyondWhatThePeerAdmits) {
  Served served;
  for (std::uint32_t i = 0; i < Served::kDepth; ++i) served.read();
  served.wait_for_requests(Served::kDepth);
  EXPECT_EQ(only().waits_for, StreamWait::kNothing) << "there is nothing after them";
  served.read();
  EXPECT_EQ(only().waits_for, StreamWait::kAnswers);
}

TEST_F(LiveStreams, WorkBehindAFence) {
  Served served;
  served.read();
  served.wait_for_requests(1);
  must(served.end.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kFence}), "post_send");
  EXPECT_EQ(only().waits_for, StreamWait::kAnswers);
}

// A thread that looks on while connections come and go: for ThreadSanitizer, and for a list that has what it says.
TEST_F(LiveStreams, BesideConnectionsThatComeAndGo) {
  const std::jthread onlooker([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const LiveStream& one : live_streams()) EXPECT_NE(one.peer.port, 0);
    }
  });
  for (int i = 0; i < 20; ++i) {
    Pair pair;
    pair.disconnect();
  }
}

}  // namespace
}  // namespace weft::verbs::test
