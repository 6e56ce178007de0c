// SPDX-License-Identifier: Apache-2.0
// Requests come in the order in which a program made its connections, as perftest takes for granted: also when the
// first one was accepted before its Request was there, and the others' were there at once; and also when the
// connections are spread over several progress threads.
#include <gtest/gtest.h>

#include "hand_peer.hpp"
#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// TCP only; the Request follows when the test says so.
class Caller {
 public:
  explicit Caller(const Endpoint& server) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage storage{};
    const auto size = server.to_sockaddr(storage);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&storage), size) != 0) throw std::runtime_error("connect");
  }
  ~Caller() { ::close(socket_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void ask() const {
    engine::test::VectorMemory memory;
    engine::Engine engine({.role = mpa::Role::kInitiator}, memory, Instant{});
    if (!engine.connect({})) throw std::runtime_error("MPA Request");
    engine::TransmitBatch batch(1 << 10);
    engine.fill(batch, Instant{});
    const Bytes request = batch.pieces().front();
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error("send");
  }
  [[nodiscard]] std::uint16_t port() const {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0) throw std::runtime_error("getsockname");
    return ntohs(own.sin_port);
  }

 private:
  int socket_;
};

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
    const Caller first(listener.local_address());
    wait_for_half_open(listener);
    first.ask();
    const Caller second(listener.local_address()), third(listener.local_address());
    second.ask();
    third.ask();
    for (const Caller* caller : {&first, &second, &third}) {
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
  const Caller silent(listener.local_address());
  wait_for_half_open(listener);
  const Caller second(listener.local_address());
  second.ask();
  auto event = expect_event(events, ConnectionEventType::kConnectRequest);
  EXPECT_EQ(event.request->remote_address().port, second.port());
}

}  // namespace
}  // namespace weft::verbs::test
