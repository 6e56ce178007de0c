// SPDX-License-Identifier: Apache-2.0
// One end of a connection to be, whose other end is the test's business: a client, a listener, and a listener of plain
// TCP.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "loopback.hpp"

namespace weft::verbs::test {

// An active end up to connect(), and its events.
struct Client {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  End end;
  ConnectionId id = must(ConnectionId::create(events, 42), "ConnectionId");

  void resolve(const Endpoint& destination) { test::resolve(id, events, destination); }
};

struct Server {
  explicit Server(const Policy& policy = {}, int backlog = 128, const std::string& address = "127.0.0.1") {
    must(id.bind_address(loopback(address)), "bind_address");
    must(id.set_policy(over_tested_pipe(policy)), "set_policy");
    must(id.listen(backlog), "listen");
  }
  [[nodiscard]] ListenCounts counts() const { return must(id.listen_counts(), "listen_counts"); }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events, 43), "ConnectionId");
};

// A plain TCP listener that says what it is told and nothing else.
struct PlainServer {
  PlainServer() {
    descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(descriptor, 8), 0);
    EXPECT_EQ(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
  }
  ~PlainServer() { ::close(descriptor); }
  int descriptor = -1;
  std::uint16_t port = 0;
};

}  // namespace weft::verbs::test
