// SPDX-License-Identifier: Apache-2.0
// Sends before there is a connection: QueuePair::accept_early_sends().
#include <gtest/gtest.h>

#include "tests/verbs/hand_peer.hpp"
#include "tests/verbs/loopback.hpp"

namespace weft::verbs::test {
namespace {

SendRequest signaled(std::uint64_t id, std::span<const Sge> segments = {}, SendFlags more = SendFlags::kNone) {
  return {.wr_id = id, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled | more, .segments = segments};
}

void to_init(QueuePair& qp) { must(qp.modify(QpState::kInit), "modify"); }

TEST(EarlySends, AreRefusedUnlessAskedFor) {
  End end;
  to_init(*end.qp);
  const auto posted = end.qp->post_send(signaled(1));
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, Errc::kInvalidState);
}

TEST(EarlySends, GoOutInOrderOnceConnected) {
  std::vector<std::byte> own = octets(8, 1);
  PairOptions options;
  options.before_connect = [&](End& client, End& server) {
    to_init(*client.qp);
    to_init(*server.qp);
    client.qp->accept_early_sends();
    server.qp->accept_early_sends();
    for (std::uint64_t id : {10U, 11U}) must(server.qp->post_receive({.wr_id = id}), "post_receive");
    must(client.qp->post_receive({.wr_id = 20}), "post_receive");
    must(client.qp->post_send(signaled(1)), "post_send");
    must(client.qp->post_send(signaled(2)), "post_send");
    must(server.qp->post_send(signaled(3)), "post_send");
  };
  Pair pair(options);
  for (const std::uint64_t id : {1U, 2U}) {
    const auto done = pair.client.next();
    if (done.opcode == WcOpcode::kReceive) continue;
    EXPECT_EQ(done.status, WcStatus::kSuccess);
    EXPECT_EQ(done.wr_id, id);
  }
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
}

TEST(EarlySends, WaitForTheEndOfSqdToo) {
  PairOptions options;
  options.before_connect = [&](End& client, End& server) {
    to_init(*client.qp);
    to_init(*server.qp);
    client.qp->accept_early_sends();
    must(server.qp->post_receive({.wr_id = 10}), "post_receive");
    must(client.qp->post_send(signaled(1)), "post_send");
    must(client.qp->modify(QpState::kSqd), "SQD");
    EXPECT_EQ(client.next_async().type, AsyncEventType::kSendQueueDrained);
    EXPECT_EQ(client.qp->state(), QpState::kInit);
  };
  Pair pair(options);
  EXPECT_EQ(pair.client.qp->query().state, QpState::kSqd);
  EXPECT_FALSE(pair.client.qp->query().draining);
  EXPECT_FALSE(pair.client.next_within(pair.client.cq, 30ms));
  must(pair.client.qp->modify(QpState::kRts), "RTS");
  EXPECT_EQ(pair.client.next().wr_id, 1U);
  EXPECT_EQ(pair.server.next().wr_id, 10U);
}

TEST(EarlySends, KeepInlineOctetsAndOccupyPlaces) {
  End end({.queue_pair = {.max_send_wr = 2}});
  to_init(*end.qp);
  end.qp->accept_early_sends();
  std::array<std::byte, 8> octets{};
  const Sge segment{.address = std::bit_cast<std::uintptr_t>(octets.data()), .length = 8};
  must(end.qp->post_send(signaled(1, {&segment, 1}, SendFlags::kInline)), "post_send");
  EXPECT_EQ(end.qp->send_room(), 1U);
  must(end.qp->post_send(signaled(2)), "post_send");
  EXPECT_EQ(end.qp->post_send(signaled(3)).error().code, Errc::kQueueFull);
  const Sge long_one{.address = segment.address, .length = 10000};
  EXPECT_EQ(end.qp->post_send(signaled(3, {&long_one, 1}, SendFlags::kInline)).error().code, Errc::kQueueFull);
}

TEST(EarlySends, WhatCannotWaitIsRefused) {
  End end;
  to_init(*end.qp);
  end.qp->accept_early_sends();
  EXPECT_EQ(end.qp->post_send({.opcode = SendOpcode::kBindWindow}).error().argument, "bind");
  const Sge long_one{.address = 1, .length = 10000};
  EXPECT_EQ(end.qp->post_send(signaled(3, {&long_one, 1}, SendFlags::kInline)).error().code, Errc::kInlineTooLong);
}

// The handles move meanwhile.
TEST(EarlySends, BindsAndLocalInvalidationsWaitInOrder) {
  std::vector<std::byte> own = octets(8, 1);
  std::optional<MemoryRegion> region;
  std::optional<MemoryWindow> window;
  PairOptions options;
  options.before_connect = [&](End& client, End&) {
    to_init(*client.qp);
    client.qp->accept_early_sends();
    const Access rights = Access::kLocalWrite | Access::kWindowBind;
    auto registered = must(client.domain.register_memory(own.data(), own.size(), rights), "register_memory");
    auto allocated = must(client.domain.allocate_window(), "allocate_window");
    const std::uint32_t rkey = allocated.next_rkey();
    const WindowBind bind{.window = &allocated,
                          .region = &registered,
                          .rkey = rkey,
                          .address = registered.iova(),
                          .length = 8,
                          .access = Access::kRemoteWrite};
    must(client.qp->post_send(
             {.wr_id = 1, .opcode = SendOpcode::kBindWindow, .flags = SendFlags::kSignaled, .bind = bind}),
         "bind");
    must(client.qp->post_send({.wr_id = 2,
                               .opcode = SendOpcode::kLocalInvalidate,
                               .flags = SendFlags::kSignaled,
                               .invalidate_rkey = rkey}),
         "invalidate");
    region = std::move(registered);
    window = std::move(allocated);
    EXPECT_FALSE(window->bound());
  };
  Pair pair(options);
  for (const std::uint64_t id : {1U, 2U}) {
    const auto done = pair.client.next();
    EXPECT_EQ(done.wr_id, id);
    EXPECT_EQ(done.status, WcStatus::kSuccess);
  }
  EXPECT_FALSE(window->bound());
  EXPECT_TRUE(region->deregister());
}

TEST(EarlySends, GivingUpNamesTheOldest) {
  End end;
  to_init(*end.qp);
  end.qp->accept_early_sends();
  must(end.qp->post_receive({.wr_id = 9}), "post_receive");
  for (std::uint64_t id : {1U, 2U}) must(end.qp->post_send(signaled(id)), "post_send");
  end.qp->give_up_connecting();
  const auto oldest = end.next();
  EXPECT_EQ(oldest.wr_id, 1U);
  EXPECT_EQ(oldest.status, WcStatus::kRetryExceeded);
  EXPECT_EQ(end.next().status, WcStatus::kFlushed);
  EXPECT_EQ(end.next().status, WcStatus::kFlushed);
  EXPECT_EQ(end.qp->state(), QpState::kError);
}

TEST(EarlySends, ErrorFlushesAndResetDiscards) {
  End end;
  to_init(*end.qp);
  end.qp->accept_early_sends();
  must(end.qp->post_send(signaled(1)), "post_send");
  must(end.qp->modify(QpState::kError), "modify");
  EXPECT_EQ(end.next().status, WcStatus::kFlushed);
  must(end.qp->modify(QpState::kReset), "modify");
  to_init(*end.qp);
  EXPECT_EQ(end.qp->post_send(signaled(2)).error().code, Errc::kInvalidState) << "RESET ends the mode";
  end.qp->accept_early_sends();
  must(end.qp->post_send(signaled(3)), "post_send");
  must(end.qp->modify(QpState::kReset), "modify");
  EXPECT_FALSE(end.next_within(end.cq, 50ms));
}

// Completions that nobody takes hold the places of their requests.
TEST(EarlySends, InErrorTheQueueIsAsLongAsItWas) {
  End end({.queue_pair = {.max_send_wr = 2}});
  must(end.qp->modify(QpState::kError), "modify");
  const std::vector<SendRequest> three{signaled(1), signaled(2), signaled(3)};
  const auto result = end.qp->post_send(three);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().posted, 2U);
  EXPECT_EQ(result.error().error.code, Errc::kQueueFull);
  EXPECT_EQ(end.next().wr_id, 1U);
  must(end.qp->post_send(signaled(3)), "post_send");
}

TEST(EarlySends, ThePeersCloseLeavesReceivesPosted) {
  PairOptions options;
  options.before_connect = [](End& client, End&) {
    to_init(*client.qp);
    client.qp->accept_early_sends();
    must(client.qp->post_receive({.wr_id = 9}), "post_receive");
  };
  Pair pair(options);
  pair.server.qp.reset();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (pair.client.qp->state() != QpState::kInit && std::chrono::steady_clock::now() < until) {
    EXPECT_FALSE(pair.client.next_within(pair.client.cq, 1ms));
  }
  EXPECT_EQ(pair.client.qp->state(), QpState::kInit);
  must(pair.client.qp->post_send(signaled(1)), "post_send");
  pair.client.qp->give_up_connecting();
  EXPECT_EQ(pair.client.next().status, WcStatus::kRetryExceeded);
  EXPECT_EQ(pair.client.next().wr_id, 9U);
}

// The peer sees an ordinary close.
TEST(EarlySends, LeavingThePeerLeavesReceivesPosted) {
  PairOptions options;
  options.before_connect = [](End& client, End&) {
    to_init(*client.qp);
    client.qp->leave_peer();  // there is none
    EXPECT_EQ(client.qp->state(), QpState::kInit);
    client.qp->accept_early_sends();
    must(client.qp->post_receive({.wr_id = 9}), "post_receive");
  };
  Pair pair(options);
  pair.client.qp->leave_peer();
  EXPECT_EQ(pair.client.qp->state(), QpState::kInit);
  wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the peer hears of it");
  EXPECT_EQ(pair.server.qp->query().end->code, Errc::kDisconnected);
  pair.server.qp->leave_peer();
  EXPECT_EQ(pair.server.qp->state(), QpState::kError) << "sends are not accepted early";
  must(pair.client.qp->post_send(signaled(1)), "post_send");
  pair.client.qp->give_up_connecting();
  EXPECT_EQ(pair.client.next().status, WcStatus::kRetryExceeded);
  EXPECT_EQ(pair.client.next().wr_id, 9U);
}

// Accepts a peer that reads its Reply and sends nothing more by itself. With `peer_to_peer`, the connection is not established
// before its first message.
struct Accepted {
  explicit Accepted(bool peer_to_peer) {
    to_init(*end.qp);
    end.qp->accept_early_sends();
    must(end.qp->post_receive({.wr_id = 9}), "post_receive");
    must(listener.bind_address(loopback("127.0.0.1")), "bind_address");
    must(listener.listen(), "listen");
    peer.emplace(listener.local_address(), engine::Config{.mpa = {.peer_to_peer = peer_to_peer}});
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    end.id = std::move(*request.request);
    must(end.id->accept(*end.qp, {.ord = 1}), "accept");
    peer->wait_for<engine::Established>();
  }
  // The receive is there still, and what is posted waits for another connection.
  void expect_waiting() {
    EXPECT_EQ(end.qp->state(), QpState::kInit);
    EXPECT_FALSE(end.qp->query().end);
    must(end.qp->post_send(signaled(1)), "post_send");
    EXPECT_FALSE(end.next_within(end.cq, 1ms));
    end.qp->give_up_connecting();
    EXPECT_EQ(end.next().status, WcStatus::kRetryExceeded);
    EXPECT_EQ(end.next().wr_id, 9U);
  }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  End end;
  std::optional<HandPeer> peer;
};

TEST(EarlySends, APeerThatGoesBeforeItsFirstMessageLeavesReceivesPosted) {
  Accepted one(true);
  EXPECT_EQ(one.end.qp->state(), QpState::kRtr);
  one.peer->close();
  wait_until([&] { return one.end.qp->state() != QpState::kRtr; }, "the end");
  expect_event(one.events, ConnectionEventType::kConnectError);
  one.expect_waiting();
}

TEST(EarlySends, ThePeerIsLeftBeforeItsFirstMessageToo) {
  Accepted one(true);
  one.end.qp->leave_peer();
  wait_until([&] { return one.peer->has_ended(); }, "the end");
  one.expect_waiting();
}

TEST(EarlySends, LeavingThePeerDiscardsUnfinishedSends) {
  Accepted one(false);
  EXPECT_EQ(one.end.qp->state(), QpState::kRts);
  must(one.end.qp->post_send({.wr_id = 2, .opcode = SendOpcode::kRdmaRead, .flags = SendFlags::kSignaled}),
       "post_send");
  one.end.qp->leave_peer();
  one.expect_waiting();
}

TEST(EarlySends, SqdOutlastsThePeersClose) {
  PairOptions options;
  options.before_connect = [](End& client, End&) {
    to_init(*client.qp);
    client.qp->accept_early_sends();
  };
  Pair pair(options);
  must(pair.client.qp->modify(QpState::kSqd), "SQD");
  EXPECT_EQ(pair.client.next_async().type, AsyncEventType::kSendQueueDrained);
  pair.server.qp.reset();
  wait_until([&] { return pair.client.qp->state() == QpState::kInit; }, "the peer has left");
  must(pair.client.qp->post_send(signaled(1)), "post_send");
  must(pair.client.qp->modify(QpState::kRts), "RTS ends SQD");
  EXPECT_EQ(pair.client.qp->modify(QpState::kRts).error().code, Errc::kInvalidState) << "and there is no connection";
  pair.client.qp->give_up_connecting();
  EXPECT_EQ(pair.client.next().status, WcStatus::kRetryExceeded);
}

TEST(EarlySends, NumbersOfTheCallerAreChecked) {
  End end;
  QueuePairAttributes wanted{
      .send_cq = &end.cq, .receive_cq = &end.cq, .number = QueuePairAttributes::kHighestAssignedNumber};
  EXPECT_EQ(end.domain.create_queue_pair(wanted).error().code, Errc::kInvalidArgument);
  wanted.number = 0x1000000;
  EXPECT_EQ(end.domain.create_queue_pair(wanted).error().code, Errc::kInvalidArgument);
  wanted.number = 0xABCDEF;
  EXPECT_EQ(must(end.domain.create_queue_pair(wanted), "create_queue_pair").number(), 0xABCDEFU);
}

}  // namespace
}  // namespace weft::verbs::test
