// SPDX-License-Identifier: Apache-2.0
// Peers that say nothing while a connection is made, and peers that keep it waiting then.
#include <gtest/gtest.h>

#include "lone_ends.hpp"
#include "served.hpp"
#include "tests/raw_tcp.hpp"

namespace weft::verbs::test {
namespace {

TEST(TimeOuts, APeerThatNeverAnswers) {  // MPA-7.1.2-31
  Client client;
  PlainServer silent;
  must(client.id.set_policy({.timeouts = {.startup = 50ms}}), "policy");
  client.resolve(loopback("127.0.0.1", silent.port));
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kUnreachable).error->code, Errc::kTimedOut);
}

TEST(TimeOuts, APeerThatNeverAsks) {  // MPA-7.1.2-26: the half-open connection is closed
  Server server({.timeouts = {.startup = 50ms}});
  weft::test::RawSocket peer(server.id.local_address());
  EXPECT_TRUE(peer.read_to_end().empty());                                // waits until the server gives up
  EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut);  // the application heard nothing
}

// --- Peers that keep an established connection waiting (SEC-6.4.2-01); tests/engine/time_outs_test.cpp has the rest

TEST(TimeOuts, AnFpduThatIsNotComplete) {
  Served served({.timeouts = {.fpdu = 50ms}});
  served.write_nothing();
  const auto octets = served.peer->cut();
  served.peer->write(Bytes(octets).first(octets.size() - 1));
  const auto told = served.peer->wait_for<engine::TerminateReceived>();
  EXPECT_EQ(told.report.layer, engine::Layer::kLlp);
  EXPECT_EQ(told.report.code, 1);
  EXPECT_EQ(served.end.next_async().error->sentence, "the peer did not send the rest of an FPDU in time");
}

TEST(TimeOuts, AnIdleConnection) {
  Pair pair({.server_policy = {.timeouts = {.idle = 50ms}}});
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.server.qp->state(), QpState::kError);
  EXPECT_EQ(pair.client.qp->state(), QpState::kError);
}

TEST(TimeOuts, AClosedWindow) {
  Served served({.timeouts = {.window = 50ms}}, Served::kMuch);
  served.send_all();
  EXPECT_EQ(served.end.next().status, WcStatus::kFlushed);
  expect_event(served.events, ConnectionEventType::kDisconnected);
  EXPECT_TRUE(served.peer->is_reset());
}

}  // namespace
}  // namespace weft::verbs::test
