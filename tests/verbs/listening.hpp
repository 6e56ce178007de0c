// SPDX-License-Identifier: Apache-2.0
// A listener, and peers at plain TCP sockets that say as much of an MPA Request as the test wants.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "loopback.hpp"

namespace weft::verbs::test {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { ::close(descriptor_); }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

struct Server {
  explicit Server(int backlog = 128, const Policy& policy = {}) {
    must(id.set_policy(over_tested_pipe(policy)), "set_policy");
    must(id.bind_address(loopback("127.0.0.1")), "bind_address");
    must(id.listen(backlog), "listen");
  }
  [[nodiscard]] ListenCounts counts() const { return must(id.listen_counts(), "listen_counts"); }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
};

// An identifier up to connect(), and its events.
struct Caller {
  explicit Caller(const Endpoint& destination, const Policy& policy = {}) {
    must(id.set_policy(over_tested_pipe(policy)), "set_policy");
    resolve(id, events, destination);
  }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
};

inline void dial(const Descriptor& socket, const Endpoint& to) {
  sockaddr_storage storage{};
  const auto size = to.to_sockaddr(storage);
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
}

inline Descriptor tcp_socket() { return Descriptor(::socket(AF_INET, SOCK_STREAM, 0)); }

// TCP, and not a word.
inline Descriptor silent(const Server& server) {
  auto socket = tcp_socket();
  dial(socket, server.id.local_address());
  return socket;
}

inline void say(const Descriptor& socket) {
  constexpr std::string_view kRequest{"MPA ID Req Frame\x40\x01\0\0", 20};
  EXPECT_EQ(::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL), 20);
}

inline bool was_reset(const Descriptor& socket) {
  char octet{};
  return ::recv(socket.get(), &octet, 1, 0) < 0 && errno == ECONNRESET;
}

inline bool still_open(const Descriptor& socket) {
  char octet{};
  return ::recv(socket.get(), &octet, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

inline std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
  return ntohs(own.sin_port);
}

inline void wait_for_half_open(const Server& server, std::size_t count) {
  wait_until([&] { return server.counts().half_open == count; }, "accepted");
}

// A peer that asks, in revision 1.
inline void ask(const Descriptor& socket, const Endpoint& server) {
  dial(socket, server);
  constexpr std::string_view kRequest{"MPA ID Req Frame\x40\x01\0\0", 20};
  EXPECT_EQ(::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL), 20);
}

}  // namespace weft::verbs::test
