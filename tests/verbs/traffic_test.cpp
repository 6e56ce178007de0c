// SPDX-License-Identifier: Apache-2.0
// Work under way while its target does nothing, while other threads post, and while memory goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// The target's application does nothing at all: Writes, Reads and atomics are served (RDMAP-5.2.1-03, RDMAP-5.1-02).
TEST(Progress, OneSidedWorkNeedsNoTarget) {
  Pair pair;
  Buffer near(pair.client, 100000), far(pair.server, 100000);
  const auto all = near.sge(), word = near.sge(0, 8);
  for (unsigned round = 0; round < 5; ++round) {
    near.fill(round);
    std::ranges::fill(far.octets, std::byte{0});
    const std::array<SendRequest, 3> work{SendRequest{.opcode = SendOpcode::kRdmaWrite,
                                                      .segments = {&all, 1},
                                                      .remote_address = far.remote(),
                                                      .rkey = far.region.rkey()},
                                          SendRequest{.opcode = SendOpcode::kRdmaRead,
                                                      .segments = {&all, 1},
                                                      .remote_address = far.remote(),
                                                      .rkey = far.region.rkey()},
                                          SendRequest{.opcode = SendOpcode::kFetchAndAdd,
                                                      .flags = SendFlags::kSignaled,
                                                      .segments = {&word, 1},
                                                      .remote_address = far.remote(),
                                                      .rkey = far.region.rkey(),
                                                      .swap_or_add = 1}};
    ASSERT_TRUE(pair.client.qp->post_send(work));
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
}

// Everything from many threads at once, as libibverbs allows: posting, polling, querying, registering.
TEST(Traffic, ManyThreadsOnOneQueuePair) {
  constexpr int kThreads = 3, kTimes = 300;
  Pair pair({.client = {.queue_pair = {.max_send_wr = kThreads * kTimes}, .cq_capacity = kThreads * kTimes},
             .server = {.queue_pair = {.max_receive_wr = kThreads * kTimes}, .cq_capacity = kThreads * kTimes}});
  std::atomic<int> sent{0}, received{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      Buffer buffer(pair.client, 64);
      const auto sge = buffer.sge();
      for (int i = 0; i < kTimes; ++i) {
        must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
        must(pair.client.qp->post_send({.opcode = SendOpcode::kSend,
                                        .flags = SendFlags::kSignaled | SendFlags::kInline,
                                        .segments = {i % 2 == 0 ? &sge : nullptr, 0}}),
             "send");
        sent += static_cast<int>(drain(pair.client.cq));
        received += static_cast<int>(drain(pair.server.cq));
        const auto state = pair.client.qp->query().state;
        EXPECT_EQ(state, QpState::kRts);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  wait_until([&] { return (sent += static_cast<int>(drain(pair.client.cq))) == kThreads * kTimes; }, "sends");
  wait_until([&] { return (received += static_cast<int>(drain(pair.server.cq))) == kThreads * kTimes; }, "receives");
}

// DDP-8.3-02, DDP-8.3.1-07,
// RDMAP-8.1.1-06, SEC-6.2.2-02: after deregistering nothing writes there any more.
TEST(Traffic, DeregisteringUnderWrites) {
  for (int round = 0; round < 5; ++round) {
    Pair pair;
    Buffer near(pair.client, 1 << 18);
    near.fill(3);
    Buffer far(pair.server, 1 << 18);
    const auto sge = near.sge();
    std::vector<SendRequest> work(64, SendRequest{.opcode = SendOpcode::kRdmaWrite,
                                                  .segments = {&sge, 1},
                                                  .remote_address = far.remote(),
                                                  .rkey = far.region.rkey()});
    ASSERT_TRUE(pair.client.qp->post_send(work));
    wait_until([&] { return std::atomic_ref(far.octets.back()).load() == near.octets.back(); }, "the first write");
    must(far.region.deregister(), "deregister");
    std::ranges::fill(far.octets, std::byte{0x55});
    static_cast<void>(pair.client.qp->post_send(work[0]));  // should all of them have been in time
    pair.event(ConnectionEventType::kDisconnected);
    pair.event(ConnectionEventType::kDisconnected);
    EXPECT_EQ(std::ranges::count(far.octets, std::byte{0x55}), 1 << 18) << "all that was sent has come";
  }
}

// The same for the source of our own work: the owner may unmap it.
TEST(Traffic, DeregisteringASource) {
  for (const bool crc : {true, false}) {
    Pair pair({.client_policy = {.startup = {.crc = crc}}, .server_policy = {.startup = {.crc = crc}}});
    Buffer far(pair.server, 1 << 20);
    auto near = std::make_unique<Buffer>(pair.client, 1 << 20);
    const auto sge = near->sge();
    std::vector<SendRequest> work(64, SendRequest{.opcode = SendOpcode::kRdmaWrite,
                                                  .segments = {&sge, 1},
                                                  .remote_address = far.remote(),
                                                  .rkey = far.region.rkey()});
    ASSERT_TRUE(pair.client.qp->post_send(work));
    near.reset();  // deregisters and frees: a later touch is seen by the sanitizers
    const auto done = pair.client.next();
    EXPECT_EQ(done.status, WcStatus::kLocalProtectionError);
  }
}

}  // namespace
}  // namespace weft::verbs::test
