// SPDX-License-Identifier: Apache-2.0
// Which connections a listener lets in (SEC-6.4.1-03), over TCP: what peers see that are refused, and what is counted.
#include <array>

#include "listening.hpp"

namespace weft::verbs::test {
namespace {

AccessList denying(const char* prefixes) { return {.deny = parse_prefixes(prefixes).value()}; }

// Connected, and accepted by `end`.
struct Guest {
  Guest(Server& server, End& end) : caller(server.id.local_address()) {
    must(caller.id.connect(*near.qp), "connect");
    request = expect_event(server.events, ConnectionEventType::kConnectRequest).request;
    must(request->accept(*end.qp), "accept");
    expect_event(caller.events, ConnectionEventType::kEstablished);
    expect_event(server.events, ConnectionEventType::kEstablished);
  }
  End near;
  Caller caller;
  std::unique_ptr<ConnectionId> request;
};

// Whether the Reply rejects.
bool was_rejected(const Descriptor& socket) {
  std::array<char, 20> reply{};
  return ::recv(socket.get(), reply.data(), reply.size(), MSG_WAITALL) == 20 && (reply[16] & 0x20) != 0;
}

TEST(Admission, ADeniedPeerIsResetAtOnce) {
  const Server server(128, {.admission = {.access = denying("127.0.0.0/8")}});
  const auto peer = tcp_socket();
  dial(peer, server.id.local_address());
  EXPECT_TRUE(was_reset(peer)) << "without having said a word";
  wait_until([&] { return server.counts().denied == 1; }, "counted");
  EXPECT_EQ(server.counts().half_open, 0U);
  EXPECT_EQ(server.counts().dropped, 0U);
}

// A wildcard of IPv6 accepts IPv4, whose addresses come mapped there.
TEST(Admission, AMappedAddressIsIpv4) {
  for (const auto& [denied, in] : {std::pair{"127.0.0.0/8", false}, std::pair{"::/0", true}}) {
    EventChannel events = must(EventChannel::create(), "channel");
    ConnectionId id = must(ConnectionId::create(events), "id");
    must(id.set_policy({.admission = {.access = denying(denied)}}), "set_policy");
    must(id.bind_address({Address::any(transport::Family::kIpv6), 0}), "bind");
    must(id.listen(), "listen");
    const auto peer = tcp_socket();
    dial(peer, loopback("127.0.0.1", id.local_address().port));
    if (!in) {
      EXPECT_TRUE(was_reset(peer));
    }
    const auto counts = [&] { return must(id.listen_counts(), "counts"); };
    wait_until([&] { return counts().half_open + counts().denied == 1; }, "accepted");
    EXPECT_EQ(counts().half_open, in ? 1U : 0U) << denied;
  }
}

TEST(Admission, WhatComesTooFastIsReset) {
  const Server server(128, {.admission = {.connect_rate_per_peer = 1}});
  const auto first = silent(server);
  wait_for_half_open(server, 1);
  // One of these comes within a second of the one before, however slow this machine is, or the test goes on.
  wait_until(
      [&] {
        const auto next = silent(server);
        wait_until([&] { return server.counts().too_fast == 1 || server.counts().half_open > 1; }, "let in or not");
        return server.counts().too_fast == 1;
      },
      "too fast");
  EXPECT_TRUE(still_open(first));
}

TEST(Admission, OneBeyondThePeersBoundIsResetAtAccept) {
  Server server(128, {.admission = {.connections_per_peer = 1}});
  End end;
  auto guest = std::make_unique<Guest>(server, end);
  EXPECT_EQ(server.counts().connections, 1U);
  const auto another = tcp_socket();
  dial(another, server.id.local_address());
  EXPECT_TRUE(was_reset(another));
  wait_until([&] { return server.counts().too_many == 1; }, "counted");
  must(guest->request->disconnect(), "disconnect");
  expect_event(server.events, ConnectionEventType::kDisconnected);
  wait_until([&] { return server.counts().connections == 0; }, "its seat is free");
  const auto late = silent(server);
  wait_for_half_open(server, 1);
  say(late);
  expect_event(server.events, ConnectionEventType::kConnectRequest);
}

// Those that have not asked keep none out, so there may be more of them than may ask.
TEST(Admission, ARequestBeyondTheBoundIsRejected) {
  for (const Policy& policy :
       {Policy{.admission = {.connections_per_peer = 1}}, Policy{.admission = {.connections_per_listener = 1}}}) {
    Server server(128, policy);
    const auto first = silent(server), second = silent(server);
    wait_for_half_open(server, 2);
    say(first);
    const auto request = expect_event(server.events, ConnectionEventType::kConnectRequest).request;
    say(second);
    EXPECT_TRUE(was_rejected(second));
    EXPECT_EQ(server.counts().too_many, 1U);
    EXPECT_EQ(server.counts().requests, 0U);
    EXPECT_EQ(server.counts().connections, 1U);
    wait_for_half_open(server, 0);
    EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut) << "the program hears of one";
  }
}

// Each listener bounds itself by what all of the process have.
TEST(Admission, ListenersOfAProcess) {
  Server unbounded, bounded(128, {.admission = {.connections_per_process = 2}});
  End end, another;
  const auto one = silent(bounded);
  wait_for_half_open(bounded, 1);
  const Guest first(unbounded, end), second(unbounded, another);
  say(one);
  EXPECT_TRUE(was_rejected(one));
  EXPECT_EQ(bounded.counts().too_many, 1U);
  EXPECT_EQ(unbounded.counts().too_many, 0U);
}

// A request that the program drops, or rejects, is one less.
TEST(Admission, ARequestThatIsDroppedGivesItsSeatBack) {
  Server server(128, {.admission = {.connections_per_peer = 1}});
  for (int i = 0; i < 3; ++i) {
    const auto peer = silent(server);
    say(peer);
    expect_event(server.events, ConnectionEventType::kConnectRequest);
    EXPECT_TRUE(was_rejected(peer));
    ::shutdown(peer.get(), SHUT_WR);
    wait_until([&] { return server.counts().connections == 0; }, "its seat is free");
  }
  EXPECT_EQ(server.counts().too_many, 0U);
}

}  // namespace
}  // namespace weft::verbs::test
