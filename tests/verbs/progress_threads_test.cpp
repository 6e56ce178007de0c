// SPDX-License-Identifier: Apache-2.0
// Several progress threads: as many as were asked for, with the connections spread over them.
#include <gtest/gtest.h>

#include <list>

#include "loopback.hpp"
#include "tests/transport/support.hpp"
#include "verbs/options.hpp"

namespace weft::verbs::test::progress_threads {
namespace {

std::size_t threads() { return transport::test::living_threads().size(); }

struct ProgressThreads : testing::Test {
  ~ProgressThreads() override { must(set_progress_threads(0), "back to what weft chooses"); }
};

// The targets' application does nothing, so that only the threads can answer.
void read_from_idle(Pair& pair, unsigned seed) {
  Buffer near(pair.client, 5000), far(pair.server, 5000);
  far.fill(seed);
  const auto sge = near.sge();
  must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaRead,
                                  .flags = SendFlags::kSignaled,
                                  .segments = {&sge, 1},
                                  .remote_address = far.remote(),
                                  .rkey = far.region.rkey()}),
       "post_send");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(near.octets, far.octets);
}

TEST_F(ProgressThreads, ServeAllConnections) {
  const auto before = threads();
  must(set_progress_threads(3), "set_progress_threads");
  {
    std::list<Pair> pairs(4);
    EXPECT_EQ(threads(), before + 1 + 3) << "one for deadlines and the connection manager, and three";
    unsigned seed = 0;
    for (Pair& pair : pairs) read_from_idle(pair, ++seed);
    for (Pair& pair : pairs) pair.disconnect();
  }
  EXPECT_EQ(threads(), before);
}

TEST_F(ProgressThreads, AreNotTooMany) {
  must(set_progress_threads(kMostProgressThreads), "set_progress_threads");
  EXPECT_EQ(set_progress_threads(kMostProgressThreads + 1).error().code, Errc::kLimitExceeded);
}

}  // namespace
}  // namespace weft::verbs::test::progress_threads
