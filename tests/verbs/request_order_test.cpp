// SPDX-License-Identifier: Apache-2.0
// Requests come in the order in which a program made its connections, as perftest takes for granted: also when the
// first one was accepted before its Request was there, and the others' were there at once; and also when the
// connections are spread over several progress threads.
#include <gtest/gtest.h>

#include "hand_peer.hpp"
#include "loopback.hpp"
#include "tests/raw_tcp.hpp"

namespace weft::verbs::test {
namespace {

using weft::test::RawSocket;

// The Request of a caller that was connected by TCP alone so far.
void ask(RawSocket& caller) {
  engine::test::VectorMemory memory;
  engine::Engine engine({.role = mpa::Role::kInitiator}, memory, Instant{});
  if (!engine.connect({})) throw std::runtime_error("MPA Request");
  engine::TransmitBatch batch(1 << 10);
  engine.fill(batch, Instant{});
  caller.send(batch.pieces().front());
}

// The first caller's connection is accepted.
void wait_for_half_open(const ConnectionId& listener) {
  wait_until([&] { return must(listener.listen_counts(), "listen_counts").half_open == 1; }, "accepted");
}

struct RequestOrder : testing::TestWithParam<std::size_t> {  // progress threads
  const ProgressThreadCount count{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(ProgressThreads, RequestOrder, testing::Values(1, 4));

TEST_P(RequestOrder, IsThatOfTheConnections) {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(16), "listen");
  for (int round = 0; round < 100; ++round) {
    RawSocket first(listener.local_address());
    wait_for_half_open(listener);
    ask(first);
    RawSocket second(listener.local_address()), third(listener.local_address());
    ask(second);
    ask(third);
    for (const RawSocket* caller : {&first, &second, &third}) {
      auto event = expect_event(events, ConnectionEventType::kConnectRequest);
      ASSERT_EQ(event.request->remote_address().port, caller->port()) << "round " << round;
    }
  }
}

// One that never asks holds up no other.
TEST_P(RequestOrder, WhoIsSilentIsNotWaitedFor) {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(16), "listen");
  const RawSocket silent(listener.local_address());
  wait_for_half_open(listener);
  RawSocket second(listener.local_address());
  ask(second);
  auto event = expect_event(events, ConnectionEventType::kConnectRequest);
  EXPECT_EQ(event.request->remote_address().port, second.port());
}

}  // namespace
}  // namespace weft::verbs::test
