// SPDX-License-Identifier: Apache-2.0
// How a queue pair goes down: which work request is to blame, what is flushed, from when on it is in ERROR, and how
// long its stream may take.
#include <fcntl.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>

#include "epoll_sets.hpp"
#include "hand_peer.hpp"
#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// A receive that cannot take what arrives, through no fault of the peer: the Send's first octet meets it.
struct BadReceive {
  const char* name;
  std::function<Sge(End& server, Buffer& good, Buffer& read_only)> make;
};

void PrintTo(const BadReceive& bad, std::ostream* out) { *out << bad.name; }

class Receives : public ::testing::TestWithParam<BadReceive> {};

TEST_P(Receives, ThatCannotTakeTheOctetsFailAndTheOthersAreFlushed) {
  Pair pair;
  Buffer from(pair.client, 8), good(pair.server, 8), read_only(pair.server, 8, Access::kRemoteRead);
  from.fill(1);
  const auto source = from.sge(), bad = GetParam().make(pair.server, good, read_only), fine = good.sge();
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&bad, 1}}), "post_receive");
  must(pair.server.qp->post_receive({.wr_id = 2, .segments = {&fine, 1}}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&source, 1}}), "post_send");
  const auto failed = pair.server.next(), flushed = pair.server.next();
  EXPECT_EQ(failed.wr_id, 1U);
  EXPECT_EQ(failed.status, WcStatus::kLocalProtectionError);
  EXPECT_EQ(flushed.wr_id, 2U);
  EXPECT_EQ(flushed.status, WcStatus::kFlushed);
  EXPECT_EQ(good.octets, std::vector<std::byte>(8));
  EXPECT_EQ(read_only.octets, std::vector<std::byte>(8));
  const auto at_peer = pair.client.next_async();  // RDMAP-7.1-02: local catastrophic error, nothing quoted
  ASSERT_TRUE(at_peer.error);
  EXPECT_TRUE(at_peer.error->remote);
  EXPECT_EQ(at_peer.error->layer, 0);
  EXPECT_EQ(at_peer.error->type, 0);
}

const BadReceive kBadReceives[] = {
    {"UnknownKey", [](End&, Buffer& good, Buffer&) { return Sge{good.remote(), 8, good.region.lkey() ^ 1}; }},
    {"Deregistered",
     [](End& server, Buffer&, Buffer&) {
       Buffer gone(server, 8);
       return gone.sge();
     }},
    {"NotWritable", [](End&, Buffer&, Buffer& read_only) { return read_only.sge(); }},
    {"OutOfBounds", [](End&, Buffer& good, Buffer&) { return Sge{good.remote() + 1, 8, good.region.lkey()}; }},
};

INSTANTIATE_TEST_SUITE_P(Ending, Receives, ::testing::ValuesIn(kBadReceives),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// --- The state, as soon as a Terminate is sent or received

// A server of weft, and a client that neither reads nor closes unless it is told to.
struct Terminating {
  explicit Terminating(const Policy& policy = {.timeouts = {.disconnect = 60s, .close = 60s}},
                       const EndOptions& options = {})
      : server(options) {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.set_policy(policy), "set_policy");
    must(listener.listen(), "listen");
    peer.emplace(listener.local_address());
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    server.id = std::move(*request.request);
    must(server.id->accept(*server.qp), "accept");
    peer->wait_for<engine::Established>();
    expect_event(events, ConnectionEventType::kEstablished);
  }
  // The initiator speaks first (MPA-7.1.2-17): until then the server sends nothing.
  void speak() {
    must(server.qp->post_receive({.wr_id = 99}), "post_receive");
    ASSERT_TRUE(peer->engine.post({.operation = engine::Operation::kSend}));
    peer->write();
    EXPECT_EQ(server.next().wr_id, 99U);
  }
  void write_where_it_may_not() {
    static constexpr std::array<std::byte, 8> kOctets{};
    ASSERT_TRUE(peer->engine.post(
        {.operation = engine::Operation::kWrite, .inline_data = kOctets, .remote_stag = {0x12345678}}));
    peer->write();
  }
  // What holds from the moment on in which the application hears of the error; the stream itself is still there.
  void expect_error_state() {
    EXPECT_EQ(server.qp->state(), QpState::kError);
    EXPECT_EQ(server.qp->query().state, QpState::kError);
    EXPECT_EQ(server.qp->modify(QpState::kSqd).error().code, Errc::kInvalidState);
    for (const std::uint64_t posted_before : {1U, 2U}) {
      const auto flushed = server.next();
      EXPECT_EQ(flushed.wr_id, posted_before);
      EXPECT_EQ(flushed.status, WcStatus::kFlushed);
    }
    must(server.qp->post_receive({.wr_id = 3}), "post_receive");
    EXPECT_EQ(server.next().wr_id, 3U);
    must(server.qp->post_send({.wr_id = 4, .opcode = SendOpcode::kRdmaWrite}), "post_send");
    const auto flushed = server.next();
    EXPECT_EQ(flushed.wr_id, 4U);
    EXPECT_EQ(flushed.status, WcStatus::kFlushed);
    EXPECT_EQ(flushed.opcode, WcOpcode::kRdmaWrite);
    EXPECT_EQ(events.get_event(0ms).error().code, Errc::kTimedOut);  // not yet disconnected
  }

  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  End server;
  std::optional<HandPeer> peer;
};

// RDMAP-6.2.1-01, RDMAP-6.2.1-03: the peer does not close, and the queue pair does not wait for that.
TEST(States, ErrorAsSoonAsATerminateIsSent) {
  Terminating scene;
  for (const std::uint64_t id : {1U, 2U}) must(scene.server.qp->post_receive({.wr_id = id}), "post_receive");
  scene.write_where_it_may_not();
  EXPECT_EQ(scene.server.next_async().type, AsyncEventType::kQueuePairAccessError);
  scene.expect_error_state();
  scene.peer->wait_for<engine::TerminateReceived>();
  scene.peer->close();
  expect_event(scene.events, ConnectionEventType::kDisconnected);
}

// RDMAP-6.2.1-03, RDMAP-6.2.1-04
TEST(States, ErrorAsSoonAsATerminateIsReceived) {
  Terminating scene;
  scene.speak();
  for (const std::uint64_t id : {1U, 2U}) must(scene.server.qp->post_receive({.wr_id = id}), "post_receive");
  Buffer from(scene.server, 8);
  const auto source = from.sge();
  must(scene.server.qp->post_send(
           {.wr_id = 5, .opcode = SendOpcode::kRdmaWrite, .segments = {&source, 1}, .rkey = 0x12345678}),
       "post_send");
  scene.peer->wait_for<engine::ProtocolError>();
  scene.peer->write();  // the Terminate, and no FIN
  EXPECT_EQ(scene.server.next_async().type, AsyncEventType::kQueuePairFatal);
  scene.expect_error_state();
  scene.peer->close();
  expect_event(scene.events, ConnectionEventType::kDisconnected);
}

// A connection that closes: RTS until it has closed, and sends are flushed, not refused. A program that posts one more to learn
// when its queue is empty need not know whether the connection is still closing.
TEST(States, RtsWhileItClosesAndMoreSendsAreFlushed) {
  Terminating scene;
  scene.speak();
  must(scene.server.id->disconnect(), "disconnect");
  EXPECT_EQ(scene.server.qp->state(), QpState::kRts);
  must(scene.server.qp->post_send({.wr_id = 3, .opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(scene.server.next().status, WcStatus::kFlushed);
  scene.peer->close();
  expect_event(scene.events, ConnectionEventType::kDisconnected);
  must(scene.server.qp->post_send({.wr_id = 4, .opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(scene.server.next().status, WcStatus::kFlushed);
}

// A message that began to arrive: its receive completes before those after it.
TEST(States, AReceiveThatIsPartlyFilledIsFlushedFirst) {
  Terminating scene;
  Buffer to(scene.server, 4096);
  const auto sink = to.sge();
  must(scene.server.qp->post_receive({.wr_id = 1, .segments = {&sink, 1}}), "post_receive");
  must(scene.server.qp->post_receive({.wr_id = 2}), "post_receive");
  scene.peer->memory.add(7, 5000);
  const rdmap::LocalSegment source{0, 5000, 7};
  ASSERT_TRUE(scene.peer->engine.post({.operation = engine::Operation::kSend, .local = {&source, 1}}));
  scene.peer->write();
  const auto too_short = scene.server.next(), behind = scene.server.next();
  EXPECT_EQ(too_short.wr_id, 1U);
  EXPECT_EQ(too_short.status, WcStatus::kLocalLengthError);
  EXPECT_EQ(too_short.vendor_error, 0x010205U);  // DDP, untagged buffer error, message too long
  EXPECT_EQ(behind.wr_id, 2U);
  EXPECT_EQ(behind.status, WcStatus::kFlushed);
}

// RDMAP-5.5-19: what waits for the socket is flushed first, then what was posted in ERROR.
TEST(States, WorkPostedInErrorIsFlushedBehindWhatIsUnderWay) {
  Terminating scene({.timeouts = {.close = 200ms}}, {.queue_pair = {.max_send_wr = 32}});
  scene.speak();
  Buffer big(scene.server, 1 << 26);
  const auto source = big.sge();
  std::uint64_t posted = 0;
  for (; posted < 31; ++posted) {  // more than the socket takes, for the peer does not read
    must(scene.server.qp->post_send({.wr_id = posted, .opcode = SendOpcode::kRdmaWrite, .segments = {&source, 1}}),
         "post_send");
  }
  scene.write_where_it_may_not();
  EXPECT_EQ(scene.server.next_async().type, AsyncEventType::kQueuePairAccessError);
  EXPECT_EQ(scene.server.qp->state(), QpState::kError);
  must(scene.server.qp->post_send({.wr_id = posted, .opcode = SendOpcode::kSend}), "post_send");
  std::uint64_t last = 0;
  do {
    const auto done = scene.server.next();
    EXPECT_EQ(done.status, WcStatus::kFlushed);
    EXPECT_TRUE(last == 0 || done.wr_id == last + 1) << last << " and then " << done.wr_id;
    last = done.wr_id;
  } while (last != posted);
}

// RDMAP-6.2.1-05: neither ERROR, asked for again, nor the end of the queue pair takes the Terminate back.
TEST(States, ATerminateOutlivesItsQueuePair) {
  for (const bool destroyed : {false, true}) {
    Terminating scene;
    scene.write_where_it_may_not();
    EXPECT_EQ(scene.server.next_async().type, AsyncEventType::kQueuePairAccessError);
    must(scene.server.qp->modify(QpState::kError), "ERROR");
    if (destroyed) scene.server.qp.reset();
    EXPECT_EQ(scene.events.get_event(0ms).error().code, Errc::kTimedOut);  // the stream is not cut off
    scene.peer->wait_for<engine::TerminateReceived>();
    scene.peer->close();
    expect_event(scene.events, ConnectionEventType::kDisconnected);
  }
}

// A stream that waited for a receive reads on when it fails, and so sees the peer close.
TEST(States, AStalledStreamThatFailsIsNotDeaf) {
  Pair pair({.server_policy = {.timeouts = {.no_receive = 50ms, .close = 60s}}});
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
}

// --- How long a close may take

// The peer stalls and answers nothing; still the close comes to its end, and the Read is flushed.
TEST(Closing, AnUnansweredReadHoldsItUpForSoLongAndNoLonger) {
  Pair pair({.client_policy = {.timeouts = {.finish = 50ms}}});
  Buffer into(pair.client, 8), source(pair.server, 8);
  const auto sink = into.sge();
  must(pair.client.qp->post_send({.wr_id = 1, .opcode = SendOpcode::kSend}), "post_send");  // meets no receive
  must(pair.client.qp->post_send({.wr_id = 2,
                                  .opcode = SendOpcode::kRdmaRead,
                                  .segments = {&sink, 1},
                                  .remote_address = source.remote(),
                                  .rkey = source.region.rkey()}),
       "post_send");
  must(pair.client.id->disconnect(), "disconnect");
  for (int end = 0; end < 2; ++end)
    pair.event(ConnectionEventType::kDisconnected);  // the FIN is told to the other, too
  const auto flushed = pair.client.next();
  EXPECT_EQ(flushed.wr_id, 2U);
  EXPECT_EQ(flushed.status, WcStatus::kFlushed);
}

// Nothing is left to do when the application hears of the end: it finds no descriptor in use any more, and no thread at
// work with what it lets go of next.
TEST(Ends, AreToldWhenTheSocketIsClosed) {
  const ProgressThreadCount two(2);  // so that none of it is done by the thread that waits
  const auto sockets = [] {
    std::set<int> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      const int descriptor = std::stoi(entry.path().filename());
      if (is_socket(descriptor)) all.insert(descriptor);
    }
    return all;
  };
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(), "listen");
  const End first;  // with the first device comes the socket that watches the interfaces
  const auto others = sockets();
  for (int round = 0; round < 100; ++round) {
    End end;
    HandPeer peer(listener.local_address());
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    must(request.request->accept(*end.qp), "accept");
    expect_event(events, ConnectionEventType::kEstablished);
    const auto both = sockets();
    ASSERT_EQ(both.size(), others.size() + 2);
    peer.close();
    auto event = events.get_event(0ms);
    while (!event) event = events.get_event(0ms);  // to sleep and be woken would give it time
    for (const int descriptor : both) {
      ASSERT_TRUE(others.contains(descriptor) || ::fcntl(descriptor, F_GETFD) < 0) << "round " << round;
    }
    EXPECT_EQ(event->type, ConnectionEventType::kDisconnected);
  }
}

}  // namespace
}  // namespace weft::verbs::test
