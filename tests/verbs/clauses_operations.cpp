// SPDX-License-Identifier: Apache-2.0
// Clauses about operations over the whole stack: what is visible when a completion is, and receives that streams share.
#include <algorithm>
#include <cstring>
#include <map>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// RDMAP-5.5-11, RDMAP-B-04, RDMAPX-7-06, RDMAPX-6-01: a thread that sees a Send or Immediate Data delivered sees all
// that was written before it.
TEST(Visibility, WhatWasWrittenBeforeIsThereAtDelivery) {
  constexpr std::size_t kSize = 100'000;
  Pair pair;
  Buffer near(pair.client, kSize), far(pair.server, kSize);
  const auto sge = near.sge();
  for (unsigned round = 0; round < 12; ++round) {
    const bool immediate = round % 2 == 1;
    near.fill(round);
    must(pair.server.qp->post_receive({.wr_id = round}), "post_receive");
    must(pair.client.qp->post_send({.opcode = immediate ? SendOpcode::kRdmaWriteWithImmediate : SendOpcode::kRdmaWrite,
                                    .segments = {&sge, 1},
                                    .remote_address = far.remote(),
                                    .rkey = far.region.rkey()}),
         "write");
    if (!immediate) must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
    const auto received = pair.server.next();
    EXPECT_EQ(received.wr_id, round);
    EXPECT_EQ(received.with_immediate, immediate);
    ASSERT_EQ(far.octets, near.octets) << "round " << round;
  }
}

// RDMAP-5.2.1-10, RDMAP-3.2-07
TEST(Reads, OfAPartOfABuffer) {
  Pair pair;
  Buffer far(pair.server, 1000), near(pair.client, 1000);
  far.fill(1);
  const auto sink = near.sge(700, 50);
  must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaRead,
                                  .flags = SendFlags::kSignaled,
                                  .segments = {&sink, 1},
                                  .remote_address = far.remote() + 123,
                                  .rkey = far.region.rkey()}),
       "read");
  EXPECT_EQ(pair.client.next().byte_len, 50U);
  std::vector<std::byte> expected(1000);
  std::copy_n(far.octets.begin() + 123, 50, expected.begin() + 700);
  EXPECT_EQ(near.octets, expected);
}

// RDMAPX-6.1-03: both applications hear of it, the sender's by the Terminate.
TEST(Immediates, WithoutAReceiveEndTheStream) {
  Pair pair({.server_policy = {.startup = {.no_receive = NoReceive::kTerminate}}});
  must(pair.client.qp->post_send({.opcode = SendOpcode::kImmediate}), "post_send");
  const auto at_sink = pair.server.next_async(), at_source = pair.client.next_async();
  EXPECT_EQ(at_sink.type, AsyncEventType::kQueuePairRequestError);
  ASSERT_TRUE(at_sink.error && at_source.error);
  EXPECT_FALSE(at_sink.error->remote);
  EXPECT_TRUE(at_source.error->remote);
  for (const StreamError& error : {*at_sink.error, *at_source.error}) {
    EXPECT_EQ(error.layer, 1);
    EXPECT_EQ(error.type, 2);
    EXPECT_EQ(error.code, 0x02);
  }
}

// Two streams that take their receives from one queue.
struct Sharing {
  Pair pair{{.server = {.srq = SharedReceiveQueueAttributes{.max_wr = 16, .limit = 2}}}};
  End other{};
  QueuePair second = must(pair.server.domain.create_queue_pair(
                              {.send_cq = &pair.server.cq, .receive_cq = &pair.server.cq, .srq = &*pair.server.srq}),
                          "create_queue_pair");

  Sharing() {
    other.id = must(ConnectionId::create(pair.events), "id");
    resolve(*other.id, pair.events, pair.listener.local_address());
    must(other.id->connect(*other.qp), "connect");
    auto request = pair.event(ConnectionEventType::kConnectRequest);
    must(request.request->accept(second), "accept");
    pair.event(ConnectionEventType::kEstablished);
    pair.event(ConnectionEventType::kEstablished);
  }
};

// SEC-6.4.3.1-01, DDP-8.3.2-07, RDMAP-8.1.2-08: the low-water event says that the queue runs dry, and each completion
// names the queue pair whose peer has used a receive. SEC-2.3.5-01: each stream alone takes them in order.
TEST(SharedReceives, ShowWhichPeerUsesMoreThanItsShare) {
  Sharing sharing;
  End& server = sharing.pair.server;
  for (std::uint64_t i = 0; i < 8; ++i) must(server.srq->post_receive({.wr_id = i}), "post_receive");
  must(sharing.other.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  for (int i = 0; i < 6; ++i) must(sharing.pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  std::map<std::uint32_t, std::vector<std::uint64_t>> used;  // by queue pair, in the order of completion
  for (int i = 0; i < 7; ++i) {
    const auto done = server.next();
    EXPECT_EQ(done.status, WcStatus::kSuccess);
    used[done.qp_num].push_back(done.wr_id);
  }
  EXPECT_EQ(used[server.qp->number()].size(), 6U);
  EXPECT_EQ(used[sharing.second.number()].size(), 1U);
  for (const auto& [number, receives] : used) EXPECT_TRUE(std::ranges::is_sorted(receives)) << number;
  EXPECT_EQ(server.next_async().type, AsyncEventType::kSharedReceiveQueueLimit);
}

}  // namespace
}  // namespace weft::verbs::test
