// SPDX-License-Identifier: Apache-2.0
// A peer that sends the smallest FPDUs there are does not keep a thread from the other connections: its turn ends
// after a fixed number of them, and what is left stays in the socket, where readiness tells of it again.
#include <atomic>

#include "hand_peer.hpp"
#include "loopback.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::test {
namespace {

constexpr int kFlood = 2500;  // FPDUs of 20 octets, which fit the socket of the one who is to read them

// The test, as a thread that drives sockets.
struct Myself final : detail::Driver {
  bool is_over() override {
    ++ticks;
    while (holds_tick) holds_tick.wait(true);
    return gone;
  }
  void let_tick_go() {
    holds_tick = false;
    holds_tick.notify_all();
  }
  std::atomic<bool> gone = false;
  std::atomic<bool> holds_tick = false;
  std::atomic<int> ticks = 0;
};

// A server whose progress thread rests: only the test drives the connection.
struct ByHand {
  ByHand() {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.listen(), "listen");
    peer.emplace(listener.local_address());
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    id = std::move(*request.request);
    must(id->accept(*server.qp), "accept");
    peer->wait_for<engine::Established>();
    expect_event(events, ConnectionEventType::kEstablished);
    for (std::uint64_t number = 1; !stream; ++number) stream = runtime->find(number);
    runtime->watch(myself);
    auto& threads = runtime->progress_threads();
    wait_until([&] { return threads.proxy_comes(); }, "the progress thread is to rest");
    while (!rests_for_good(threads)) {
    }
  }
  ~ByHand() {
    myself->gone = true;
    myself->let_tick_go();
    runtime->progress_threads().proxy_leaves();
  }

  // Messages, of the startup or taken here, make the next tick wake it once more; the one after that lets it rest for good.
  bool rests_for_good(detail::ProgressThreads& threads) {
    wait_until([&, before = myself->ticks.load()] { return myself->ticks >= before + 3; }, "ticks");
    wait_until([&] { return threads.any_rests(); }, "the progress thread is to rest for good");
    bool served = false;
    while (threads.serve_one()) served = true;
    return !served;
  }

  // Until the end no tick comes. Beside busy processors a tick would find that nobody serves the socket, and let the progress thread do it.
  void hold_tick() {
    myself->holds_tick = true;
    wait_until([&, before = myself->ticks.load()] { return myself->ticks > before; }, "the tick is held");
  }

  // One that is empty: the peer's engine makes it once, for all are alike.
  std::vector<std::byte> empty_write() {
    if (!peer->engine.post({.operation = engine::Operation::kWrite})) throw std::runtime_error("post");
    return peer->cut();
  }

  ProgressThreadCount one{1};
  std::shared_ptr<detail::Runtime> runtime = detail::Runtime::acquire().value();
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  End server;
  std::optional<HandPeer> peer;
  std::optional<ConnectionId> id;
  std::shared_ptr<detail::Driven> stream;
  std::shared_ptr<Myself> myself = std::make_shared<Myself>();
};

TEST(Turns, EndBehindSoManyFpdus) {
  ByHand scene;
  must(scene.server.qp->post_receive({.wr_id = 7}), "post_receive");
  scene.hold_tick();
  const auto one = scene.empty_write();
  ASSERT_EQ(one.size(), 20U);
  std::vector<std::byte> flood;
  for (int i = 0; i < kFlood; ++i) flood.insert(flood.end(), one.begin(), one.end());
  scene.peer->write(flood);
  ASSERT_TRUE(scene.peer->engine.post({.operation = engine::Operation::kSend}));
  const auto send = scene.peer->cut();  // after all of them
  scene.peer->write(send);
  wait_until([&] { return scene.peer->unread() == flood.size() + send.size(); }, "all of it");
  int turns = 0;
  for (; scene.peer->unread() != 0; ++turns) scene.stream->drive(false);
  EXPECT_GE(turns, 2);  // one and a half thousand at most in the first
  WorkCompletion done;
  while (must(scene.server.cq.poll({&done, 1}), "poll") == 0) {
  }
  EXPECT_EQ(done.wr_id, 7U);
  EXPECT_EQ(done.status, WcStatus::kSuccess);
}

// The watchdog's measure. A poller that only writes finds nothing to read, and serves the socket all the same. Meanwhile no
// tick says that the poller has gone.
TEST(Turns, ThatOnlyWriteAreSeen) {
  ByHand scene;
  Buffer from(scene.server, std::size_t{16} << 20);
  scene.peer->memory.add(7, from.octets.size());
  scene.peer->write(scene.empty_write());  // a responder sends nothing before the initiator's first FPDU (MPA-7.1.2-17)
  scene.hold_tick();
  const auto all = from.sge();
  must(scene.server.qp->post_send({.opcode = SendOpcode::kRdmaWrite, .segments = {&all, 1}, .rkey = 7}), "write");
  const auto poll = [&] {
    WorkCompletion none;
    for (int i = 0; i < 50; ++i) EXPECT_EQ(must(scene.server.cq.poll({&none, 1}), "poll"), 0U);
  };
  // Once there is room in the socket, what was written before.
  const auto next_look = [&] {
    std::optional<std::uint64_t> moved;
    const auto look = [&] {
      poll();
      scene.peer->drop();
      return (moved = scene.stream->moved_if_unserved()).has_value();
    };
    wait_until(look, "the poller is the owner, and there is room");
    return *moved;
  };
  const auto first = next_look(), second = next_look();
  EXPECT_NE(first, second);
}

// Octets, and not FPDUs, bound the turn of a long message.
TEST(Turns, OfLongMessagesAreNotShort) {
  ByHand scene;
  Buffer to(scene.server, std::size_t{1} << 18);
  scene.peer->memory.add(7, to.octets.size());
  scene.hold_tick();
  const rdmap::LocalSegment source{0, static_cast<std::uint32_t>(to.octets.size()), 7};
  ASSERT_TRUE(scene.peer->engine.post({.operation = engine::Operation::kWrite,
                                       .local = {&source, 1},
                                       .remote_stag = {to.region.rkey()},
                                       .remote_offset = {to.remote()}}));
  auto octets = scene.peer->cut();
  const std::size_t part = std::min<std::size_t>(octets.size(), 48 * 1024);  // what the socket surely takes
  scene.peer->write(Bytes(octets).first(part));
  wait_until([&] { return scene.peer->unread() == part || scene.peer->was_read(); }, "all of it");
  scene.stream->drive(false);
  EXPECT_EQ(scene.peer->unread(), 0U);
}

}  // namespace
}  // namespace weft::verbs::test
