// SPDX-License-Identifier: Apache-2.0
// What a rejected peer sees: the Reply first, and no end of the connection before its own (MPA-7.1.2-07). The peer is a
// plain TCP socket.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loopback.hpp"

namespace weft::verbs::test::rejection {
namespace {

using namespace std::string_literals;

const std::string kRequest = "MPA ID Req Frame\x40\x01\x00\x00"s;    // RFC 5044 section 7.1.1: C, revision 1
const std::string kRejection = "MPA ID Rep Frame\x60\x01\x00\x02"s;  // C and R, two octets of private data
const std::string kReason = "no";

// Longer than any test should take, so that a FIN of the server can only answer ours.
constexpr auto kNever = 600s;

class RejectedClient {
 public:
  explicit RejectedClient(const Endpoint& server) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_storage storage{};
    const auto size = server.to_sockaddr(storage);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<sockaddr*>(&storage), size), 0);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    EXPECT_EQ(::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    say(kRequest);
  }
  RejectedClient(const RejectedClient&) = delete;
  RejectedClient& operator=(const RejectedClient&) = delete;
  ~RejectedClient() { ::close(descriptor_); }

  void say(std::string_view text) const {
    EXPECT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string hear(std::size_t count) const {
    std::string text(count, '\0');
    const ssize_t got = ::recv(descriptor_, text.data(), count, MSG_WAITALL);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  void close_first() const { EXPECT_EQ(::shutdown(descriptor_, SHUT_WR), 0); }
  // Whether the server's FIN is here already.
  [[nodiscard]] bool ended_already() const {
    char octet{};
    return ::recv(descriptor_, &octet, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }
  [[nodiscard]] bool ends() const {
    char octet{};
    return ::recv(descriptor_, &octet, 1, 0) == 0;
  }

 private:
  int descriptor_;
};

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
  const RejectedClient client(server.id.local_address());
  server.reject();
  EXPECT_EQ(client.hear(22), kRejection + kReason);
  // A second client is served from its SYN to its Reply meanwhile: what the server does of itself, it has done.
  const RejectedClient other(server.id.local_address());
  server.reject();
  EXPECT_EQ(other.hear(22), kRejection + kReason);
  EXPECT_FALSE(client.ended_already());
  client.say("not for MPA any more");
  EXPECT_FALSE(client.ended_already());
  client.close_first();
  EXPECT_TRUE(client.ends());
  EXPECT_FALSE(other.ended_already());
}

TEST(Rejections, APeerThatNeverClosesIsLeft) {
  Server server(50ms);
  const RejectedClient client(server.id.local_address());
  server.reject();
  EXPECT_EQ(client.hear(22), kRejection + kReason);
  EXPECT_TRUE(client.ends());
}

// The application is done with its listener, and with the library: no call waits for the peer.
TEST(Rejections, TheEndOfTheListenerDoesNotWait) {
  std::optional<Server> server(std::in_place, kNever);
  const RejectedClient client(server->id.local_address());
  server->reject();
  EXPECT_EQ(client.hear(22), kRejection + kReason);
  server.reset();
  EXPECT_TRUE(client.ends());
}

}  // namespace
}  // namespace weft::verbs::test::rejection
