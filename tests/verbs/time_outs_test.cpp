// SPDX-License-Identifier: Apache-2.0
// Peers that say nothing while a connection is made, and peers that keep it waiting then.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "hand_peer.hpp"
#include "lone_ends.hpp"

namespace weft::verbs::test {
namespace {

TEST(TimeOuts, APeerThatNeverAnswers) {  // MPA-7.1.2-31
  Client client;
  PlainServer silent;
  must(client.id.set_policy({.startup_timeout = 50ms}), "policy");
  client.resolve(loopback("127.0.0.1", silent.port));
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kUnreachable).error->code, Errc::kTimedOut);
}

TEST(TimeOuts, APeerThatNeverAsks) {  // MPA-7.1.2-26: the half-open connection is closed
  Server server({.startup_timeout = 50ms});
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_storage storage{};
  const auto size = server.id.local_address().to_sockaddr(storage);
  ASSERT_EQ(::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), size), 0);
  char octet{};
  EXPECT_EQ(::recv(descriptor, &octet, 1, 0), 0);  // waits until the server gives up
  ::close(descriptor);
  EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut);  // the application heard nothing
}

// --- Peers that keep an established connection waiting (SEC-6.4.2-01); tests/engine/time_outs_test.cpp has the rest

struct Kept {
  explicit Kept(const Policy& policy) : server(policy) {
    auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
    id = std::move(request.request);
    must(id->accept(*end.qp), "accept");
    peer.wait_for<engine::Established>();
    expect_event(server.events, ConnectionEventType::kEstablished);
    write_nothing();  // a responder may speak from here on
    peer.write();
  }
  void write_nothing() {
    if (!peer.engine.post({.operation = engine::Operation::kWrite})) throw std::runtime_error("post");
  }
  Server server;
  End end;
  HandPeer peer{server.id.local_address()};
  std::unique_ptr<ConnectionId> id;
};

TEST(TimeOuts, AnFpduThatIsNotComplete) {
  Kept kept({.fpdu_timeout = 50ms});
  kept.write_nothing();
  const auto octets = kept.peer.cut();
  kept.peer.write(Bytes(octets).first(octets.size() - 1));
  const auto told = kept.peer.wait_for<engine::TerminateReceived>();
  EXPECT_EQ(told.report.layer, engine::Layer::kLlp);
  EXPECT_EQ(told.report.code, 1);
  EXPECT_EQ(kept.end.next_async().error->sentence, "the peer did not send the rest of an FPDU in time");
}

TEST(TimeOuts, AnIdleConnection) {
  Pair pair({.server_policy = {.idle_timeout = 50ms}});
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.server.qp->state(), QpState::kError);
  EXPECT_EQ(pair.client.qp->state(), QpState::kError);
}

TEST(TimeOuts, AClosedWindow) {
  Kept kept({.window_timeout = 50ms});
  Buffer much(kept.end, std::size_t{1} << 26);  // more than both kernels keep
  const Sge all = much.sge();
  must(kept.end.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&all, 1}}),
       "post_send");
  EXPECT_EQ(kept.end.next().status, WcStatus::kFlushed);
  expect_event(kept.server.events, ConnectionEventType::kDisconnected);
  EXPECT_TRUE(kept.peer.is_reset());
}

}  // namespace
}  // namespace weft::verbs::test
