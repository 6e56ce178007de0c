// SPDX-License-Identifier: Apache-2.0
// A process that forks while it has connections: they are the parent's, and the child may make its own.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <stdexcept>

#include "loopback.hpp"
#include "tests/skips/sanitizers.hpp"

namespace weft::verbs::test {
namespace {

// Runs `body` in a child; its answer is the exit code.
template <typename Body>
pid_t in_child(Body body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 99;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(code);
}

int exit_code(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// One Send from the client to the server.
void exchange(Pair& pair) {
  Buffer inbox(pair.server, 64);
  Buffer outbox(pair.client, 64);
  outbox.fill(7);
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = std::array{inbox.sge()}}), "post_receive");
  must(pair.client.qp->post_send({.wr_id = 2,
                                  .opcode = SendOpcode::kSend,
                                  .flags = SendFlags::kSignaled,
                                  .segments = std::array{outbox.sge()}}),
       "post_send");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  EXPECT_EQ(inbox.octets, outbox.octets);
}

TEST(Fork, AChildMakesConnectionsOfItsOwn) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  Pair pair;
  exchange(pair);
  const pid_t child = in_child([] {
    Pair own;
    exchange(own);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(exit_code(child), 0);
  exchange(pair);  // the parent's is as it was
}

TEST(Fork, WhatAChildDoesToItsParentsConnectionReachesNobody) {
  Pair pair;
  exchange(pair);
  const pid_t child = in_child([&] {
    const auto posted = pair.client.qp->post_send({.wr_id = 9, .opcode = SendOpcode::kSend});
    static_cast<void>(posted);
    static_cast<void>(pair.client.qp->modify(QpState::kError));
    return 0;
  });
  EXPECT_EQ(exit_code(child), 0);
  exchange(pair);
}

// A child that runs, fork() and all it has to do behind it, and waits until the test has seen what it came for.
class WaitingChild {
 public:
  WaitingChild() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) != 0) throw std::runtime_error("no sockets");
    child_ = in_child([this] {
      ::close(ends_[0]);
      char octet{};
      if (::write(ends_[1], &octet, 1) != 1) return 1;
      return static_cast<int>(::read(ends_[1], &octet, 1));
    });
    ::close(ends_[1]);
    char octet{};
    if (::read(ends_[0], &octet, 1) != 1) throw std::runtime_error("the child does not run");
  }
  ~WaitingChild() {
    ::close(ends_[0]);
    EXPECT_EQ(exit_code(child_), 0);
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

 private:
  std::array<int, 2> ends_{};
  pid_t child_{};
};

struct Listening {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  std::optional<ConnectionId> id = must(ConnectionId::create(events), "ConnectionId");
  Endpoint at{};

  Listening() {
    must(id->bind_address(loopback("127.0.0.1")), "bind");
    must(id->listen(), "listen");
    at = id->local_address();
  }
};

// What TCP says to a connection there: 0, or an errno.
int tcp_connect(const Endpoint& at) {
  sockaddr_storage storage{};
  const socklen_t length = at.to_sockaddr(storage);
  const int descriptor = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int error = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&storage), length) == 0 ? 0 : errno;
  ::close(descriptor);
  return error;
}

TEST(Fork, AChildDoesNotKeepItsParentsPort) {
  Listening listening;
  const WaitingChild child;
  EXPECT_EQ(tcp_connect(listening.at), 0);
  listening.id.reset();
  EXPECT_EQ(tcp_connect(listening.at), ECONNREFUSED);
}

// Parent and child share one epoll set: what the child took out of it, the parent would not hear of any more.
TEST(Fork, AParentListensOnWhenItsChildDestroysTheListener) {
  Listening listening;
  const pid_t child = in_child([&] {
    listening.id.reset();
    return 0;
  });
  EXPECT_EQ(exit_code(child), 0);
  End client;
  client.id = must(ConnectionId::create(listening.events), "ConnectionId");
  resolve(*client.id, listening.events, listening.at);
  must(client.id->connect(*client.qp), "connect");
  expect_event(listening.events, ConnectionEventType::kConnectRequest);
}

TEST(Fork, AChildDoesNotKeepItsParentsConnectionOpen) {
  Pair pair;
  const WaitingChild child;
  pair.client.qp.reset();
  wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the server's end");
}

}  // namespace
}  // namespace weft::verbs::test
