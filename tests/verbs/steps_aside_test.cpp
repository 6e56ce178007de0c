// SPDX-License-Identifier: Apache-2.0
// The progress threads step aside for an application that polls: the kernel then has no waiter to ask for its socket.
#include <gtest/gtest.h>

#include "epoll_sets.hpp"
#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

using Clock = std::chrono::steady_clock;

int sockets_in_sets(unsigned event) {
  int all = 0;
  for (const auto& [name, sockets] : epoll_sets(event)) all += sockets;
  return all;
}

constexpr unsigned kRegistered = ~0U;  // for whatever event

TEST(StepsAside, ASocketThatIsPolledIsInNoSet) {
  Pair pair;
  wait_until([] { return sockets_in_sets(kRegistered) == 2; }, "there are no sockets but this connection's two");
  bool gone = false;  // the one of the end that is polled; a pause would bring it back
  WorkCompletion none;
  for (const auto end = Clock::now() + kPatience; !gone && Clock::now() < end;) {
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(must(pair.client.cq.poll({&none, 1}), "poll"), 0U);
    gone = sockets_in_sets(kRegistered) == 1;
  }
  EXPECT_TRUE(gone);
  must(pair.client.cq.arm(Arm::kAll), "arm");
  EXPECT_EQ(sockets_in_sets(kRegistered), 2) << "it is about to sleep";
}

}  // namespace
}  // namespace weft::verbs::test
