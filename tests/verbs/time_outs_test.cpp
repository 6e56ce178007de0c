// SPDX-License-Identifier: Apache-2.0
// Peers that say nothing while a connection is made.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lone_ends.hpp"

namespace weft::verbs::test {
namespace {

TEST(TimeOuts, APeerThatNeverAnswers) {  // MPA-7.1.2-31
  Client client;
  PlainServer silent;
  must(client.id.set_policy({.startup_timeout = 50ms}), "policy");
  client.resolve(loopback("127.0.0.1", silent.port));
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kUnreachable).error->code, Errc::kTimedOut);
}

TEST(TimeOuts, APeerThatNeverAsks) {  // MPA-7.1.2-26: the half-open connection is closed
  Server server({.startup_timeout = 50ms});
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_storage storage{};
  const auto size = server.id.local_address().to_sockaddr(storage);
  ASSERT_EQ(::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), size), 0);
  char octet{};
  EXPECT_EQ(::recv(descriptor, &octet, 1, 0), 0);  // waits until the server gives up
  ::close(descriptor);
  EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut);  // the application heard nothing
}

}  // namespace
}  // namespace weft::verbs::test
