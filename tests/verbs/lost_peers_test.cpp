// SPDX-License-Identifier: Apache-2.0
// Peers that vanish, or never were one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "lone_ends.hpp"
#include "tests/raw_tcp.hpp"

namespace weft::verbs::test {
namespace {

// The peer of the next test, run in a process of its own: ThreadSanitizer allows no thread in a child of fork() whose
// parent has threads, and the log's thread stays. It tells its port through the pipe that its environment names.
constexpr const char* kPortPipe = "WEFT_TEST_PORT_PIPE";
TEST(LostPeers, DISABLED_WhoIsKilled) {
  const char* const pipe_end = std::getenv(kPortPipe);
  ASSERT_NE(pipe_end, nullptr) << "run by LostPeers.AKilledProcess alone";
  Server server;
  const auto port = server.id.local_address().port;
  ASSERT_EQ(::write(std::atoi(pipe_end), &port, sizeof port), static_cast<ssize_t>(sizeof port));
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  End end;
  must(request.request->accept(*end.qp), "accept");
  ::pause();
}

// A peer that is killed: work is flushed and both the application and its queue pair learn of it.
TEST(LostPeers, AKilledProcess) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  ASSERT_EQ(::setenv(kPortPipe, std::to_string(pipe_ends[1]).c_str(), 1), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "who-is-killed", "--gtest_also_run_disabled_tests",
            "--gtest_filter=LostPeers.DISABLED_WhoIsKilled", "--gtest_repeat=1", nullptr);
    ::_exit(127);
  }
  ::close(pipe_ends[1]);  // so that a peer that does not come up ends the read
  std::uint16_t port = 0;
  ASSERT_EQ(::read(pipe_ends[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  Client client;
  client.resolve(loopback("127.0.0.1", port));
  must(client.id.connect(*client.end.qp), "connect");
  expect_event(client.events, ConnectionEventType::kEstablished);
  Buffer big(client.end, 1 << 20);
  const auto sge = big.sge();
  must(client.end.qp->post_receive({.wr_id = 1}), "post_receive");
  for (int i = 0; i < 20; ++i)
    must(client.end.qp->post_send({.wr_id = 2, .opcode = SendOpcode::kSend, .segments = {&sge, 1}}), "post_send");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  expect_event(client.events, ConnectionEventType::kDisconnected);
  WorkCompletion done{};
  int flushed = 0;
  while (must(client.end.cq.poll({&done, 1}), "poll") == 1) flushed += done.status == WcStatus::kFlushed;
  EXPECT_GT(flushed, 1);
  EXPECT_EQ(client.end.qp->state(), QpState::kError);
  ::close(pipe_ends[0]);
}

TEST(LostPeers, AQueuePairThatIsDestroyed) {
  Pair pair;
  must(pair.client.qp->post_receive({.wr_id = 1}), "post_receive");
  pair.server.qp.reset();
  const auto event = pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.client.next().status, WcStatus::kFlushed);
}

TEST(LostPeers, GarbageInsteadOfARequest) {
  Server server;
  weft::test::RawSocket peer(server.id.local_address());
  peer.send(octets(1000, 5));
  EXPECT_TRUE(peer.ends());
  EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut);
}

}  // namespace
}  // namespace weft::verbs::test
