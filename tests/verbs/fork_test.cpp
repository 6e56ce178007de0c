// SPDX-License-Identifier: Apache-2.0
// A process that forks while it has connections: they are the parent's, and the child may make its own.
#include <sys/wait.h>
#include <unistd.h>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kThreadSanitizer = true;  // which allows a child of a process with threads none of its own
#else
constexpr bool kThreadSanitizer = false;
#endif
#else
constexpr bool kThreadSanitizer = false;
#endif

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
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
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

TEST(Fork, AChildDoesNotKeepItsParentsConnectionOpen) {
  Pair pair;
  int until[2];
  ASSERT_EQ(::pipe(until), 0);
  const pid_t child = in_child([&] {
    ::close(until[1]);
    char octet{};
    return static_cast<int>(::read(until[0], &octet, 1));  // until the parent has seen what it waits for
  });
  pair.client.qp.reset();
  wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the server's end");
  ::close(until[1]);
  ::close(until[0]);
  EXPECT_EQ(exit_code(child), 0);
}

}  // namespace
}  // namespace weft::verbs::test
