// SPDX-License-Identifier: Apache-2.0
// What an event costs the thread that sleeps for it in get_event: system calls, in that thread alone.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/compat/call_count.hpp"
#include "tests/verbs/epoll_sets.hpp"
#include "tests/verbs/loopback.hpp"

namespace weft::compat {
namespace {

using test::Calls;
using test::calls_so_far;
using verbs::test::must;

struct WaitingCost : testing::Test {
  verbs::test::Pair pair{{.client_policy = {.startup = {.same_host = verbs::SameHost::kOff}}}};
  verbs::test::Buffer near{pair.client, 64}, far{pair.server, 64};
  const std::map<std::string, int> at_first = verbs::test::epoll_sets();  // those of weft's own threads

  // In a thread of its own, from the call on to its return.
  std::future<Calls> wait_in(verbs::test::End& end) {
    must(end.cq.arm(verbs::Arm::kAll), "arm");
    return std::async(std::launch::async, [&end] {
      const Calls before = calls_so_far();
      must(end.channel.get_event(), "get_event");
      return calls_so_far() - before;
    });
  }
  // How many sockets wake weft's threads: one of the two less while a thread of the application drives it.
  void await_left_to_weft(int wanted) const {
    const auto left = [this] {
      int count = 0;
      for (const auto& [name, sockets] : verbs::test::epoll_sets()) count += at_first.contains(name) ? sockets : 0;
      return count;
    };
    const auto end = std::chrono::steady_clock::now() + verbs::test::kPatience;
    int seen = left();  // a tick may change it again at once
    for (; seen != wanted && std::chrono::steady_clock::now() < end; seen = left()) std::this_thread::yield();
    ASSERT_EQ(seen, wanted);
  }
  void send() {
    const auto sge = near.sge();
    must(pair.client.qp->post_send({.opcode = verbs::SendOpcode::kSend, .segments = {&sge, 1}}), "post_send");
  }
  void post_receive() {
    const auto sge = far.sge();
    must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&sge, 1}}), "post_receive");
  }
  void expect_one_wait_and_one_read(const Calls& calls) {
    EXPECT_EQ(calls.waits, 1U);
    EXPECT_EQ(calls.reads, 1U);
    EXPECT_EQ(calls.writes, 0U);
    EXPECT_EQ(calls.tokens, 0U) << "who raises an event for itself need not tell itself through the descriptor";
  }
};

TEST_F(WaitingCost, AMessageIsOneWaitAndOneRead) {
  for (int i = 0; i < 20; ++i) {
    await_left_to_weft(2);  // the last wait is over
    post_receive();
    auto calls = wait_in(pair.server);
    await_left_to_weft(1);
    send();
    expect_one_wait_and_one_read(calls.get());
    EXPECT_EQ(pair.server.next().status, verbs::WcStatus::kSuccess);
  }
}

// What is there already is handed over without a wait: its token alone is taken, which another thread may have seen.
TEST_F(WaitingCost, AnEventThatWaitsIsTakenWithoutAWait) {
  must(pair.client.cq.arm(verbs::Arm::kAll), "arm");
  post_receive();
  const auto sge = near.sge();
  must(pair.client.qp->post_send(
           {.opcode = verbs::SendOpcode::kSend, .flags = verbs::SendFlags::kSignaled, .segments = {&sge, 1}}),
       "post_send");
  const Calls before = calls_so_far();
  must(pair.client.channel.get_event(), "get_event");
  EXPECT_EQ(calls_so_far() - before, (Calls{.tokens = 1}));
}

// A thread that waited a moment ago and now posts takes the event of its Send without the descriptor, too; unless a
// tick, of which there is one each millisecond, comes in between and shows it there: so one round is enough.
TEST_F(WaitingCost, WhoWaitsTakesWhatItsOwnPostRaises) {
  constexpr int kRounds = 200;
  bool without_token = false;
  for (int round = 0; round < kRounds && !without_token; ++round) {
    await_left_to_weft(2);
    must(pair.client.qp->post_receive(verbs::ReceiveRequest{}), "post_receive");
    post_receive();
    auto calls = wait_in(pair.server);
    await_left_to_weft(1);
    send();
    calls.get();
    EXPECT_EQ(pair.server.next().status, verbs::WcStatus::kSuccess);
    must(pair.server.cq.arm(verbs::Arm::kAll), "arm");
    const Calls before = calls_so_far();
    must(pair.server.qp->post_send(
             {.wr_id = 2, .opcode = verbs::SendOpcode::kSend, .flags = verbs::SendFlags::kSignaled}),
         "post_send");
    must(pair.server.channel.get_event(), "get_event");
    without_token = (calls_so_far() - before).tokens == 0;
    EXPECT_EQ(pair.server.next().status, verbs::WcStatus::kSuccess);
    EXPECT_EQ(pair.client.next().status, verbs::WcStatus::kSuccess);
  }
  EXPECT_TRUE(without_token);
}

}  // namespace
}  // namespace weft::compat
