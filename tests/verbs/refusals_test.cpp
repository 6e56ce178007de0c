// SPDX-License-Identifier: Apache-2.0
// Connects that are refused: by the application, by a peer that has no listener, and what the initiator is told.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "lone_ends.hpp"

namespace weft::verbs::test {
namespace {

TEST(Refusals, TheApplicationRejectsWithPrivateData) {
  Client client;
  Server server;
  client.resolve(server.id.local_address());
  must(client.end.qp->post_receive({.wr_id = 1}), "post_receive");
  must(client.id.connect(*client.end.qp), "connect");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  EXPECT_EQ(request.id, server.id.number());
  EXPECT_EQ(request.context, 43U);
  EXPECT_EQ(request.ird, 128U);
  EXPECT_EQ(request.ord, 128U);
  const auto reason = octets(100, 9);
  must(request.request->reject(reason), "reject");
  const auto rejected = expect_event(client.events, ConnectionEventType::kRejected);
  EXPECT_EQ(rejected.error->code, Errc::kRejected);
  EXPECT_EQ(rejected.private_data, reason);
  EXPECT_EQ(client.end.qp->state(), QpState::kError);
  EXPECT_EQ(client.end.next().status, WcStatus::kFlushed);
  EXPECT_EQ(request.request->reject().error().code, Errc::kInvalidState);
}

TEST(Refusals, ADroppedRequestIsRejected) {
  Client client;
  Server server;
  client.resolve(server.id.local_address());
  must(client.id.connect(*client.end.qp), "connect");
  expect_event(server.events, ConnectionEventType::kConnectRequest);  // and dropped
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRejected);
}

// MPA2-9.2-05, MPA2-9.2-11: an accepting Reply would have to name a ready-to-receive type.
TEST(Refusals, PeerToPeerWithoutAReadyToReceiveIndication) {
  Server server({.startup = {.rtr = {}}});
  Client client;
  End end;
  must(client.id.set_policy({.startup = {.peer_to_peer = true}}), "set_policy");
  client.resolve(server.id.local_address());
  must(client.id.connect(*client.end.qp), "connect");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  const auto accepted = request.request->accept(*end.qp);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, Errc::kNotSupported);
  EXPECT_EQ(accepted.error().argument, "peer");
  // The request is answered while its identifier lives on, and the queue pair is as it was.
  const auto rejected = expect_event(client.events, ConnectionEventType::kRejected);
  EXPECT_EQ(rejected.error->code, Errc::kNotSupported);
  EXPECT_EQ(request.request->accept(*end.qp).error().code, Errc::kInvalidState);
  EXPECT_EQ(end.qp->state(), QpState::kInit);
  // A client that does not ask for peer-to-peer is served, and one that an application refuses is told that.
  Client plain, refused;
  plain.resolve(server.id.local_address());
  must(plain.id.connect(*plain.end.qp), "connect");
  request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  must(request.request->accept(*end.qp), "accept");
  expect_event(plain.events, ConnectionEventType::kEstablished);
  Server strict;
  must(refused.id.set_policy({.startup = {.peer_to_peer = true}}), "set_policy");
  refused.resolve(strict.id.local_address());
  must(refused.id.connect(*refused.end.qp), "connect");
  must(expect_event(strict.events, ConnectionEventType::kConnectRequest).request->reject(), "reject");
  EXPECT_EQ(expect_event(refused.events, ConnectionEventType::kRejected).error->code, Errc::kRejected);
}

TEST(Refusals, AListenerThatGoesRejectsWhatWaits) {
  Client client;
  {
    Server server;
    client.resolve(server.id.local_address());
    must(client.id.connect(*client.end.qp), "connect");
    wait_until([&] { return must(server.id.listen_counts(), "counts").requests == 1; }, "it waits");
  }
  const auto event = must(client.events.get_event(10000ms), "event");
  EXPECT_EQ(event.type, ConnectionEventType::kRejected);
}

TEST(Refusals, NobodyListens) {
  Client client;
  std::uint16_t port = PlainServer().port;  // closed again
  client.resolve(loopback("127.0.0.1", port));
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRefused);
}

// Programs announce their port, and listen a moment later.
TEST(Refusals, WhoListensSoonIsReached) {
  const std::uint16_t port = PlainServer().port;
  Client client;
  must(client.id.set_policy({.timeouts = {.connect_retry = 60s}}), "policy");
  client.resolve(loopback("127.0.0.1", port));
  must(client.id.connect(*client.end.qp), "connect");  // refused within the call
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1", port)), "bind_address");
  must(listener.listen(), "listen");
  End end;
  must(expect_event(events, ConnectionEventType::kConnectRequest).request->accept(*end.qp), "accept");
  expect_event(client.events, ConnectionEventType::kEstablished);
}

TEST(Refusals, AreTakenAtOnceWithoutRetries) {
  Client client;
  must(client.id.set_policy({.timeouts = {.connect_retry = 0ms}}), "policy");
  client.resolve(loopback("127.0.0.1", PlainServer().port));
  const auto before = std::chrono::steady_clock::now();
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRefused);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

// A program that gives up meanwhile hears of it at once, and nothing comes afterwards.
TEST(Refusals, AQueuePairMayGoBetweenTwoTries) {
  Client client;
  must(client.id.set_policy({.timeouts = {.connect_retry = 60s}}), "policy");
  client.resolve(loopback("127.0.0.1", PlainServer().port));
  must(client.id.connect(*client.end.qp), "connect");
  must(client.end.qp->modify(QpState::kError), "ERROR");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kConnectError).error->code, Errc::kInvalidState);
  EXPECT_EQ(client.events.get_event(30ms).error().code, Errc::kTimedOut);
}

// When the failure is told, the queue pair is in ERROR and its work completed.
TEST(Refusals, FlushBeforeTheyAreTold) {
  Client client;
  std::uint16_t port = PlainServer().port;
  client.resolve(loopback("127.0.0.1", port));
  must(client.end.qp->post_receive({.wr_id = 5}), "post_receive");
  must(client.id.connect(*client.end.qp), "connect");
  expect_event(client.events, ConnectionEventType::kRejected);
  EXPECT_EQ(client.end.qp->state(), QpState::kError);
  WorkCompletion flushed;
  ASSERT_EQ(must(client.end.cq.poll(std::span(&flushed, 1)), "poll"), 1U) << "not later than the event";
  EXPECT_EQ(flushed.wr_id, 5U);
  EXPECT_EQ(flushed.status, WcStatus::kFlushed);
}

}  // namespace
}  // namespace weft::verbs::test
