// SPDX-License-Identifier: Apache-2.0
// What a rejected peer sees: the Reply first, and no end of the connection before its own (MPA-7.1.2-07). The peer is a
// plain TCP socket.
#include <optional>
#include <span>
#include <string>

#include "loopback.hpp"
#include "tests/raw_tcp.hpp"

namespace weft::verbs::test::rejection {
namespace {

using namespace std::string_literals;
using weft::test::RawSocket;

const std::string kRequest = "MPA ID Req Frame\x40\x01\x00\x00"s;    // RFC 5044 section 7.1.1: C, revision 1
const std::string kRejection = "MPA ID Rep Frame\x60\x01\x00\x02"s;  // C and R, two octets of private data
const std::string kReason = "no";

// Longer than any test should take, so that a FIN of the server can only answer ours.
constexpr auto kNever = 600s;

struct Server {
  explicit Server(std::chrono::milliseconds close_timeout) {
    must(id.bind_address(loopback("127.0.0.1")), "bind_address");
    must(id.set_policy({.timeouts = {.close = close_timeout}}), "set_policy");
    must(id.listen(), "listen");
  }
  void reject() {
    auto event = expect_event(events, ConnectionEventType::kConnectRequest);
    must(event.request->reject(std::as_bytes(std::span(kReason))), "reject");
  }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
};

TEST(Rejections, ThePeerClosesFirst) {
  Server server(kNever);
  RawSocket client(server.id.local_address(), kRequest);
  server.reject();
  EXPECT_EQ(client.hear(22), kRejection + kReason);
  // A second client is served from its SYN to its Reply meanwhile: what the server does of itself, it has done.
  RawSocket other(server.id.local_address(), kRequest);
  server.reject();
  EXPECT_EQ(other.hear(22), kRejection + kReason);
  EXPECT_FALSE(client.peer_has_closed());
  client.say("not for MPA any more");
  EXPECT_FALSE(client.peer_has_closed());
  client.shutdown_write();
  EXPECT_TRUE(client.read_to_end().empty());
  EXPECT_FALSE(other.peer_has_closed());
}

TEST(Rejections, APeerThatNeverClosesIsLeft) {
  Server server(50ms);
  RawSocket client(server.id.local_address(), kRequest);
  server.reject();
  EXPECT_EQ(client.hear(22), kRejection + kReason);
  EXPECT_TRUE(client.read_to_end().empty());
}

// The application is done with its listener, and with the library: no call waits for the peer.
TEST(Rejections, TheEndOfTheListenerDoesNotWait) {
  std::optional<Server> server(std::in_place, kNever);
  RawSocket client(server->id.local_address(), kRequest);
  server->reject();
  EXPECT_EQ(client.hear(22), kRejection + kReason);
  server.reset();
  EXPECT_TRUE(client.read_to_end().empty());
}

}  // namespace
}  // namespace weft::verbs::test::rejection
