// SPDX-License-Identifier: Apache-2.0
#include "transport/blocking_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/transport/support.hpp"

namespace weft::transport::test {
namespace {

using Got = BlockingSocket::Got;

Instant soon() { return steady_now() + kPatience; }

struct Ends {
  explicit Ends(const SocketOptions& options = {})
      : client(BlockingSocket::connect(listener.local(), soon(), options).value()),
        server(listener.accept(soon()).value()) {}
  BlockingListener listener = BlockingListener::open({Address::loopback(Family::kIpv4), 0}).value();
  BlockingSocket client;
  BlockingSocket server;
};

TEST(BlockingSocket, ReceivesOctetsThenTheEnd) {
  Ends ends;
  const auto said = pattern(1000);
  ASSERT_TRUE(ends.client.send(said, soon()));
  ends.client.shutdown_write();
  std::vector<std::byte> heard;
  while (heard.size() < said.size()) ASSERT_EQ(ends.server.receive(heard, soon()), Got::kOctets);
  EXPECT_EQ(heard, said);
  EXPECT_EQ(ends.server.receive(heard, soon()), Got::kFin);
  ends.server.reset();
  EXPECT_EQ(ends.client.receive(heard, soon()), Got::kReset);
  EXPECT_FALSE(ends.client.send(said, soon()));
  EXPECT_EQ(ends.server.receive(heard, soon()), Got::kReset) << "it has no descriptor any more";
  EXPECT_EQ(heard, said);
}

TEST(BlockingSocket, WaitsUntilTheDeadline) {
  Ends ends;
  std::vector<std::byte> heard;
  const Instant before = steady_now();
  EXPECT_EQ(ends.client.receive(heard, before + 20ms), Got::kNothing);
  EXPECT_FALSE(ends.listener.accept(before + 40ms));
  EXPECT_GE(steady_now() - before, 40ms);
  EXPECT_FALSE(ends.client.send(std::vector<std::byte>(std::size_t{64} << 20), steady_now() + 20ms)) << "nobody reads";
}

// Returns the descriptor of the socket that listens there; -1 if there is none.
int find_listening(const Endpoint& at) {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    sockaddr_in local{};
    size = sizeof local;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &size) == 0 && ntohs(local.sin_port) == at.port)
      return descriptor;
  }
  return -1;
}

TEST(BlockingSocket, AcceptEndsWhenTheListenerHasFailed) {
  const auto listener = BlockingListener::open({Address::loopback(Family::kIpv4), 0}).value();
  ASSERT_EQ(::shutdown(find_listening(listener.local()), SHUT_RDWR), 0);  // accept() fails with EINVAL from now on
  const Instant before = steady_now();
  EXPECT_FALSE(listener.accept(before + kPatience));
  EXPECT_LT(steady_now() - before, kPatience) << "an error is no reason to wait";
}

TEST(BlockingSocket, SetsOptionsBeforeTheSyn) {
  const Ends ends({.max_segment = 600});
  EXPECT_LE(ends.client.emss(), 600U);
  EXPECT_LE(ends.server.emss(), 600U) << "the SYN says it";
}

TEST(BlockingSocket, IsRefused) {
  const Endpoint closed = BlockingListener::open({Address::loopback(Family::kIpv4), 0}).value().local();
  const auto socket = BlockingSocket::connect(closed, soon());
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error(), std::errc::connection_refused);
  const Ends ends;
  EXPECT_EQ(BlockingListener::open(ends.listener.local()).error(), std::errc::address_in_use);
}

}  // namespace
}  // namespace weft::transport::test
