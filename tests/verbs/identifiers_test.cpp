// SPDX-License-Identifier: Apache-2.0
// Identifiers and their event channels: the order of calls, and the end of either.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lone_ends.hpp"

namespace weft::verbs::test {
namespace {

// An event whose identifier is gone is not waited for.
TEST(Channels, AnUndeliveredEventGoesWithItsIdentifier) {
  auto events = must(EventChannel::create(), "channel");
  {
    auto id = must(ConnectionId::create(events), "id");
    must(id.resolve_address(loopback("127.0.0.1", 7)), "resolve_address");
  }
  pollfd waiting{.fd = events.descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  EXPECT_EQ(events.get_event(20ms).error().code, Errc::kTimedOut);
}

TEST(Channels, EventsWaitBehindTheDescriptor) {
  auto events = must(EventChannel::create(), "EventChannel");
  EXPECT_EQ(events.get_event(0ms).error().code, Errc::kTimedOut);
  auto id = must(ConnectionId::create(events), "id");
  must(id.resolve_address(loopback("127.0.0.1", 1)), "resolve");
  auto elsewhere = must(EventChannel::create(), "EventChannel");
  must(id.migrate(elsewhere), "migrate");
  EXPECT_EQ(expect_event(elsewhere, ConnectionEventType::kAddressResolved).id, id.number());
  must(id.resolve_route(), "route");
  expect_event(elsewhere, ConnectionEventType::kRouteResolved);
  must(id.migrate(events), "migrate back");
  // A token of an event that was withdrawn is no event: a non-blocking reader finds nothing.
  ASSERT_EQ(::fcntl(events.descriptor(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(events.get_event().error().code, Errc::kWouldBlock);
}

TEST(Misuse, OutOfOrder) {
  Client client;
  EXPECT_EQ(client.id.connect(*client.end.qp).error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.resolve_route().error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.accept(*client.end.qp).error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.disconnect().error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.set_policy({.startup = {.mpa_revision = 3}}).error().argument, "policy.startup.mpa_revision");
  EXPECT_EQ(client.id.set_policy({.timeouts = {.startup = 0ms}}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(client.id.set_policy({.timeouts = {.finish = 0ms}}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(client.id.resolve_address(loopback("127.0.0.1", 0)).error().argument, "destination");
  Pair pair;
  client.resolve(pair.listener.local_address());
  EXPECT_EQ(client.id.connect(*pair.client.qp).error().argument, "queue_pair");  // used already
}

TEST(Identifiers, MayGoBeforeTheirConnection) {
  Pair pair;
  pair.client.id.reset();
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(pair.server.next().wr_id, 1U);
}

// No event is raised before the connection is established.
TEST(Identifiers, ConnectOverARouteThatIsSet) {
  Pair pair;  // its listener goes on
  const Endpoint to = pair.listener.local_address();
  auto id = must(ConnectionId::create(pair.events), "id");
  EXPECT_EQ(id.set_route(to.address, {.address = to.address, .port = 0}).error().argument, "destination");
  EXPECT_EQ(id.set_route(Address::any(to.address.family), to).error().argument, "source");
  must(id.set_route(to.address, to), "set_route");
  EXPECT_EQ(id.set_route(to.address, to).error().code, Errc::kInvalidState);
  EXPECT_EQ(id.remote_address(), to);
  End client, server;
  const auto other = establish(id, pair.events, *client.qp, *server.qp);
  EXPECT_EQ(other.remote_address(), id.local_address());
}

TEST(Identifiers, DestroyedWhileConnecting) {
  PlainServer deaf, hears;
  for (int i = 0; i < 20; ++i) {
    const PlainServer& server = i % 2 == 0 ? hears : deaf;
    Client client;
    client.resolve(loopback("127.0.0.1", server.port));
    must(client.id.connect(*client.end.qp), "connect");
    if (&server == &deaf) continue;
    // Not another's, for whom this port was a free one.
    int peer = -1;
    for (sockaddr_in from{}; ntohs(from.sin_port) != client.id.local_address().port;) {
      if (peer >= 0) ::close(peer);
      socklen_t size = sizeof from;
      peer = ::accept(hears.descriptor, reinterpret_cast<sockaddr*>(&from), &size);
      ASSERT_GE(peer, 0);
    }
    char octet{};
    EXPECT_EQ(::recv(peer, &octet, 1, 0), 1) << "the Request is there";
    ::close(peer);
  }
}

// --- What a program that forks does with a listener

TEST(Listeners, ClientsOfOneThatHoldsRequestsWait) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "ConnectionId");
  EXPECT_EQ(listener.hold_requests(true).error().code, Errc::kInvalidState);
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(), "listen");
  must(listener.hold_requests(true), "hold_requests");
  Client client;
  client.resolve(listener.local_address());
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(events.get_event(30ms).error().code, Errc::kTimedOut);
  must(listener.hold_requests(false), "hold_requests");
  expect_event(events, ConnectionEventType::kConnectRequest);
}

TEST(Listeners, ASocketGoesOnListeningForAnotherIdentifier) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto second = must(ConnectionId::create(events), "ConnectionId");
  Endpoint at;
  {
    auto first = must(ConnectionId::create(events), "ConnectionId");
    EXPECT_EQ(first.duplicate_listener().error().code, Errc::kInvalidState);
    must(first.bind_address(loopback("127.0.0.1")), "bind");
    must(first.listen(), "listen");
    at = first.local_address();
    must(second.bind_socket(must(first.duplicate_listener(), "duplicate_listener")), "bind_socket");
  }
  EXPECT_EQ(second.local_address(), at);
  Client client;
  client.resolve(at);
  must(client.id.connect(*client.end.qp), "connect");  // the kernel's queue takes it
  must(second.listen(), "listen");
  EXPECT_EQ(expect_event(events, ConnectionEventType::kConnectRequest).id, second.number());
  EXPECT_EQ(second.bind_socket(-1).error().code, Errc::kInvalidState);
  auto third = must(ConnectionId::create(events), "ConnectionId");
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(third.bind_socket(file).error().code, Errc::kSystem);  // no socket
}

}  // namespace
}  // namespace weft::verbs::test
