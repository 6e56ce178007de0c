// SPDX-License-Identifier: Apache-2.0
// Whose a port is before its socket listens or connects.
#include "transport/bound_socket.hpp"

#include "tests/transport/support.hpp"
#include "transport/connector.hpp"
#include "transport/listener.hpp"

namespace weft::transport::test {
namespace {

Endpoint loopback(std::uint16_t port = 0) { return {Address::loopback(Family::kIpv4), port}; }

TEST(BoundSocket, KeepsItsPortToItself) {
  auto bound = BoundSocket::bind(loopback()).value();
  EXPECT_NE(bound.local().port, 0);
  EXPECT_EQ(BoundSocket::bind(bound.local()).error(), std::errc::address_in_use);
  EXPECT_EQ(BoundSocket::bind(bound.local(), {.reuse = true}).error(), std::errc::address_in_use);
  bound.allow_reuse(true);
  EXPECT_TRUE(BoundSocket::bind(bound.local(), {.reuse = true}));
  const Endpoint at = bound.local();
  bound = {};
  EXPECT_TRUE(BoundSocket::bind(at));
}

TEST(BoundSocket, MovesWithItsPort) {
  auto bound = BoundSocket::bind(loopback()).value();
  const auto next = bound.again(Address::any(Family::kIpv4), {}).value();
  EXPECT_EQ(next.local(), (Endpoint{Address::any(Family::kIpv4), bound.local().port}));
  bound = {};
  EXPECT_EQ(BoundSocket::bind(next.local(), {.reuse = true}).error(), std::errc::address_in_use);
}

TEST(BoundSocket, HasNoPortUntilOneIsPicked) {
  EXPECT_EQ(BoundSocket::at_address(Address::parse("203.0.113.9").value()).error(), std::errc::address_not_available);
  for (const Family family : {Family::kIpv4, Family::kIpv6}) {
    if (family == Family::kIpv6 && !has_ipv6_loopback()) GTEST_SKIP() << "SKIPPED: this host has no IPv6 loopback";
    auto bound = BoundSocket::at_address(Address::loopback(family)).value();
    EXPECT_EQ(bound.local(), (Endpoint{Address::loopback(family), 0}));
    EXPECT_EQ(bound.again(Address::any(family), {}).value().local().port, 0);
    ASSERT_FALSE(bound.pick_port());
    const Endpoint at = bound.local();
    EXPECT_NE(at.port, 0);
    EXPECT_EQ(at.address, Address::loopback(family));
    ASSERT_FALSE(bound.pick_port());
    EXPECT_EQ(bound.local(), at);
    EXPECT_EQ(BoundSocket::bind(at).error(), std::errc::address_in_use);
  }
}

TEST(BoundSocket, ListensAtAPortThatIsPickedThen) {
  RunningReactor reactor;
  auto bound = BoundSocket::at_address(Address::loopback(Family::kIpv4)).value();
  const auto listener = Listener::create(*reactor, reactor.sockets(), bound, {}, [](const auto&) {}).value();
  EXPECT_NE(listener.local().port, 0);
  EXPECT_EQ(BoundSocket::bind(listener.local()).error(), std::errc::address_in_use);
}

// A server that is started again finds its port, although connections of the one before are in TIME_WAIT, or alive.
TEST(BoundSocket, TakesAPortThatConnectionsOfThePastStillHave) {
  RunningReactor reactor;
  Mailbox<std::expected<Socket, std::error_code>> accepted, connected;
  Endpoint at;
  Socket server, client;
  {
    auto bound = BoundSocket::bind(loopback()).value();
    at = bound.local();
    const auto listener = Listener::create(*reactor, reactor.sockets(), bound, {}, [&](auto socket) {
                            accepted.put(std::move(socket));
                          }).value();
    EXPECT_FALSE(bound.is_open()) << "taken";
    const Connector connector(*reactor, at, {}, [&](auto socket) { connected.put(std::move(socket)); });
    server = accepted.take().value().value();
    client = connected.take().value().value();
    EXPECT_EQ(BoundSocket::bind(at).error(), std::errc::address_in_use) << "somebody listens";
  }
  EXPECT_EQ(BoundSocket::bind(at)->local(), at) << "alive";
  server.close();  // first, so that this end waits
  client.close();
  auto bound = BoundSocket::bind(at).value();
  EXPECT_EQ(BoundSocket::bind(at, {.reuse = true}).error(), std::errc::address_in_use) << "its own again";
  EXPECT_TRUE(Listener::create(*reactor, reactor.sockets(), bound, {}, [](auto) {}));
}

// A client's port, likewise.
TEST(BoundSocket, ConnectsFromItsPort) {
  RunningReactor reactor;
  Mailbox<std::expected<Socket, std::error_code>> accepted, connected;
  const auto listener = Listener::create(*reactor, reactor.sockets(), loopback(), {}, [&](auto socket) {
                          accepted.put(std::move(socket));
                        }).value();
  auto from = BoundSocket::bind(loopback()).value();
  const Endpoint at = from.local();
  const Connector connector(*reactor, std::move(from), listener.local(), {},
                            [&](auto socket) { connected.put(std::move(socket)); });
  connected.take().value()->close();
  Socket peer = accepted.take().value().value();
  EXPECT_EQ(peer.peer(), at);
  peer.close();
  EXPECT_TRUE(BoundSocket::bind(at)) << "in spite of TIME_WAIT";

  auto begun = begin_connect(BoundSocket::at_address(at.address).value(), listener.local(), {}).value();
  EXPECT_NE(begun.local.port, 0);
  EXPECT_EQ(accepted.take().value()->peer(), begun.local);
}

}  // namespace
}  // namespace weft::transport::test
