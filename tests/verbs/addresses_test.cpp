// SPDX-License-Identifier: Apache-2.0
// Where identifiers are bound and whom they resolve: devices, ports, names.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "lone_ends.hpp"
#include "tests/skips/localhost.hpp"

namespace weft::verbs::test {
namespace {

TEST(Addresses, AreResolvedToDevices) {
  Client client;
  Server server;
  EXPECT_EQ(client.id.device().error().code, Errc::kInvalidState);
  must(client.id.resolve_address(server.id.local_address()), "resolve_address");
  const auto event = expect_event(client.events, ConnectionEventType::kAddressResolved);
  EXPECT_EQ(event.id, client.id.number());
  EXPECT_EQ(event.context, 42U);
  EXPECT_EQ(must(client.id.device(), "device").info().name, "weft_lo");
  EXPECT_TRUE(client.id.local_address().address.is_loopback());
  EXPECT_EQ(client.id.remote_address(), server.id.local_address());
}

TEST(Addresses, DevicesAreTheInterfaces) {
  const auto devices = must(Device::list(), "list");
  const auto lo = std::ranges::find(devices, "weft_lo", &DeviceInfo::name);
  ASSERT_NE(lo, devices.end());
  EXPECT_TRUE(lo->interface.loopback);
  EXPECT_EQ(must(Device::open("weft_lo"), "open").info().interface.index, lo->interface.index);
}

TEST(Addresses, BindingReservesThePort) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto first = must(ConnectionId::create(events), "id");
  must(first.bind_address(loopback("127.0.0.1")), "bind");
  const auto at = first.local_address();
  EXPECT_NE(at.port, 0);
  must(first.listen(), "listen");
  auto second = must(ConnectionId::create(events), "id");
  EXPECT_EQ(second.bind_address(at).error().code, Errc::kAddressInUse);
  EXPECT_EQ(second.bind_address({Address::parse("203.0.113.9").value(), 1}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(second.listen().error().code, Errc::kInvalidState);
}

// Another socket listens at the port: afterwards the identifier is as before, and may try again.
TEST(Addresses, AListenThatFailedMayBeRepeated) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "id");
  sockaddr_in at{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof at;
  const auto bound = [&] {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size), 0);
    return socket;
  };
  const int other = bound();
  must(id.bind_socket(bound()), "bind_socket");
  ASSERT_EQ(::listen(other, 1), 0);
  EXPECT_EQ(id.listen().error().code, Errc::kAddressInUse);
  EXPECT_EQ(id.listen_counts().error().code, Errc::kInvalidState);
  EXPECT_EQ(id.hold_requests(true).error().code, Errc::kInvalidState);
  ::close(other);
  must(id.listen(), "listen");
  EXPECT_TRUE(id.listen_counts());
}

// No port is picked before it is needed, by a call that asks for it or by connect; from there on it stays.
TEST(Addresses, ThePortIsKnownToWhoAsks) {
  Server server;
  for (const bool with_source : {false, true}) {
    for (const bool asks : {false, true}) {
      Client client;
      const auto source = with_source ? std::optional(loopback("127.0.0.2")) : std::nullopt;
      must(client.id.resolve_address(server.id.local_address(), source), "resolve_address");
      expect_event(client.events, ConnectionEventType::kAddressResolved);
      const auto before = asks ? std::optional(client.id.local_address()) : std::nullopt;
      must(client.id.resolve_route(), "resolve_route");
      expect_event(client.events, ConnectionEventType::kRouteResolved);
      must(client.id.connect(*client.end.qp), "connect");
      const auto local = client.id.local_address();
      EXPECT_EQ(local.address, loopback(with_source ? "127.0.0.2" : "127.0.0.1").address);
      EXPECT_EQ(local, before.value_or(local));
      EXPECT_NE(local.port, 0);
      const auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
      EXPECT_EQ(event.request->remote_address(), local);
    }
  }
}

TEST(Addresses, NamesAreLookedUp) {
  EXPECT_EQ(must(lookup("127.0.0.1", 7), "lookup").to_string(), "127.0.0.1:7");
  if (!weft::test::localhost_has_an_address()) GTEST_SKIP() << weft::test::kNoLocalhost;
  EXPECT_EQ(must(lookup("localhost", 7), "lookup").port, 7);
}

}  // namespace
}  // namespace weft::verbs::test
