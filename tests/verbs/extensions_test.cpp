// SPDX-License-Identifier: Apache-2.0
// What a queue pair is asked for before it connects: QueuePair::limit_peer() and confirm_writes().
#include <gtest/gtest.h>

#include <array>

#include "tests/verbs/loopback.hpp"

namespace weft::verbs::test {
namespace {

// --- QueuePair::limit_peer()

TEST(LimitedPeers, ReachMemoryByWhatIsLeftAlone) {
  PairOptions options;
  options.before_connect = [](End&, End& server) {
    server.qp->limit_peer(Access::kRemoteRead | Access::kRemoteWrite);
    server.qp->limit_peer(Access::kRemoteWrite | Access::kRemoteAtomic);  // what one of them excludes stays excluded
  };
  Pair pair(options);
  Buffer own(pair.client, 8), exposed(pair.server, 8);
  own.fill(3);
  const std::array list{own.sge()};
  const auto post = [&](std::uint64_t id, SendOpcode opcode) {
    must(pair.client.qp->post_send({.wr_id = id,
                                    .opcode = opcode,
                                    .flags = SendFlags::kSignaled,
                                    .segments = list,
                                    .remote_address = exposed.remote(),
                                    .rkey = exposed.region.rkey()}),
         "post_send");
    return pair.client.next();
  };
  EXPECT_EQ(post(1, SendOpcode::kRdmaWrite).status, WcStatus::kSuccess);
  const auto read = post(2, SendOpcode::kRdmaRead);
  EXPECT_EQ(read.wr_id, 2U);
  EXPECT_EQ(read.status, WcStatus::kRemoteAccessError);
  EXPECT_EQ(exposed.octets, own.octets) << "the RDMA Write before it was placed";
}

// --- QueuePair::confirm_writes()

struct ConfirmedPair : Pair {
  ConfirmedPair()
      : Pair({.client = {.queue_pair = {.max_send_wr = 4}},
              .before_connect = [](End& client, End&) { client.qp->confirm_writes(); }}) {}
  PostResult write(std::uint64_t id, std::uint32_t rkey) {
    const std::array list{source.sge()};
    const SendRequest request{.wr_id = id,
                              .opcode = SendOpcode::kRdmaWrite,
                              .flags = SendFlags::kSignaled,
                              .segments = list,
                              .remote_address = target.remote(),
                              .rkey = rkey};
    return client.qp->post_send({&request, 1});
  }
  Buffer source{client, 64};
  Buffer target{server, 64};
};

TEST(ConfirmedWrites, AreThereWhenTheyComplete) {
  ConfirmedPair pair;
  for (unsigned seed = 1; seed < 200; ++seed) {
    pair.source.fill(seed);
    ASSERT_TRUE(pair.write(seed, pair.target.region.rkey()));
    EXPECT_EQ(pair.client.next().wr_id, seed);
    ASSERT_EQ(look_at(&pair.target.octets.back()), pair.source.octets.back());
  }
}

TEST(ConfirmedWrites, TakeNoPlaceOfTheSendQueue) {
  ConfirmedPair pair;
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(pair.write(4 * round + i, pair.target.region.rkey()));
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(pair.client.next().wr_id, 4 * round + i);
  }
}

TEST(ConfirmedWrites, SayWhatThePeerRefuses) {
  ConfirmedPair pair;
  ASSERT_TRUE(pair.write(1, pair.target.region.rkey()));
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  ASSERT_TRUE(pair.write(2, 77));
  const WorkCompletion refused = pair.client.next();
  EXPECT_EQ(refused.wr_id, 2U);
  EXPECT_EQ(refused.status, WcStatus::kRemoteAccessError);
  ASSERT_TRUE(pair.write(3, 77));
  EXPECT_EQ(pair.client.next().status, WcStatus::kFlushed);
}

}  // namespace
}  // namespace weft::verbs::test
