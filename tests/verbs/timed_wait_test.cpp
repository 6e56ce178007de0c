// SPDX-License-Identifier: Apache-2.0
// CompletionQueue::wait as a program meets it: over a connection, beside events, in a child, and with what it refuses.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "child.hpp"
#include "loopback.hpp"
#include "tests/transport/support.hpp"

namespace weft::verbs::test {
namespace {

struct TimedWait : testing::Test {
  void post_receive(std::uint64_t id = 1) {
    must(pair.server.qp->post_receive({.wr_id = id, .segments = {&sink, 1}}), "post_receive");
  }
  void send() { must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&source, 1}}), "post_send"); }
  std::size_t wait(std::chrono::milliseconds at_most = kPatience) {
    return must(pair.server.cq.wait(done, at_most), "wait");
  }

  Pair pair{};
  Buffer near{pair.client, 64}, far{pair.server, 64};
  Sge source = near.sge(), sink = far.sge();
  std::array<WorkCompletion, 4> done{};
};

TEST_F(TimedWait, AThreadThatSleepsIsWokenByWhatArrives) {
  for (std::uint64_t round = 1; round <= 50; ++round) {
    post_receive(round);
    auto count = std::async(std::launch::async, [this] { return pair.server.cq.wait(done); });
    if (round % 2 == 0) std::this_thread::yield();  // it may be anywhere on its way to sleep
    send();
    EXPECT_EQ(must(count.get(), "wait"), 1U);
    EXPECT_EQ(done[0].wr_id, round);
    EXPECT_EQ(done[0].status, WcStatus::kSuccess);
  }
}

// The sockets of a poller are its own: a poller that goes to sleep gives them back.
TEST_F(TimedWait, BehindPolling) {
  for (int round = 0; round < 20; ++round) {
    post_receive();
    EXPECT_FALSE(pair.server.next_within(pair.server.cq, 1ms));
    auto count = std::async(std::launch::async, [this] { return wait(); });
    send();
    EXPECT_EQ(count.get(), 1U);
  }
}

TEST_F(TimedWait, WithoutAChannel) {
  End& server = pair.server;
  auto quiet = must(server.device.create_completion_queue({}), "queue");
  auto qp = must(server.domain.create_queue_pair({.send_cq = &quiet, .receive_cq = &quiet}), "queue pair");
  must(qp.modify(QpState::kInit), "INIT");
  must(qp.post_receive({.wr_id = 3}), "post_receive");
  EXPECT_EQ(quiet.wait(done, 1ms).error().code, Errc::kTimedOut);
  auto count = std::async(std::launch::async, [&] { return quiet.wait(done); });
  must(qp.modify(QpState::kError), "ERROR");
  EXPECT_EQ(must(count.get(), "wait"), 1U);
  EXPECT_EQ(done[0].status, WcStatus::kFlushed);
}

TEST_F(TimedWait, AnOverflowIsToldBehindWhatWasKept) {
  End& server = pair.server;
  auto small = must(server.device.create_completion_queue({.capacity = 1}), "queue");
  auto qp = must(server.domain.create_queue_pair({.send_cq = &small, .receive_cq = &small}), "queue pair");
  must(qp.modify(QpState::kInit), "INIT");
  for (const std::uint64_t id : {1U, 2U}) must(qp.post_receive({.wr_id = id}), "post_receive");
  must(qp.modify(QpState::kError), "ERROR");
  EXPECT_EQ(must(small.wait(done), "wait"), 1U);
  EXPECT_EQ(small.wait(done).error().code, Errc::kOverflow);
}

// What was not armed raises no event, and what was armed does, no matter which thread takes the completion.
TEST_F(TimedWait, EventsAreAsWithPolling) {
  post_receive();
  send();
  EXPECT_EQ(wait(), 1U);
  EXPECT_FALSE(has_event(pair.server.channel, 0ms));
  must(pair.server.cq.arm(Arm::kAll), "arm");
  post_receive();
  send();
  EXPECT_EQ(wait(), 1U);
  EXPECT_TRUE(has_event(pair.server.channel, kPatience));
  EXPECT_EQ(must(pair.server.channel.get_event(), "get_event").cq_number, pair.server.cq.number());
}

// A thread that waits for events has its event, and the one that waits for completions the completion.
TEST_F(TimedWait, BesideAThreadThatWaitsForEvents) {
  for (int round = 0; round < 20; ++round) {
    must(pair.server.cq.arm(Arm::kAll), "arm");
    post_receive();
    auto event = std::async(std::launch::async, [this] { return pair.server.channel.get_event(); });
    auto count = std::async(std::launch::async, [this] { return wait(); });
    send();
    EXPECT_EQ(count.get(), 1U);
    EXPECT_TRUE(event.get());
  }
}

TEST_F(TimedWait, RefusesWhatCanNeverBeRight) {
  EXPECT_EQ(pair.server.cq.wait({}, 1ms).error().argument, "out");
  EXPECT_EQ(pair.server.cq.wait({}).error().code, Errc::kInvalidArgument);
  for (const auto negative : {-1ms, std::chrono::milliseconds::min()}) {
    const auto refused = pair.server.cq.wait(done, negative);
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(refused.error().argument, "at_most");
  }
  EXPECT_EQ(pair.server.cq.wait(done, 0ms).error().code, Errc::kTimedOut);
  post_receive();
  send();
  EXPECT_EQ(wait(std::chrono::milliseconds::max()), 1U) << "no longer than 24 days";
  auto moved_from = pair.server.cq;
  const auto kept = std::move(moved_from);
  EXPECT_EQ(moved_from.wait(done, 1ms).error().code, Errc::kInvalidState);  // NOLINT(bugprone-use-after-move)
}

TEST_F(TimedWait, TheQueueStaysWhenItsLastHandleGoes) {
  auto queue = std::make_unique<CompletionQueue>(must(pair.server.device.create_completion_queue({}), "queue"));
  auto count = std::async(std::launch::async, [this, &handle = *queue] { return handle.wait(done, 300ms); });
  transport::test::wait_for_rest();  // it sleeps in there
  WorkCompletion none;
  EXPECT_EQ(must(queue->poll({&none, 1}), "poll"), 0U);  // the queue's lock tells ThreadSanitizer that it does
  queue.reset();
  EXPECT_EQ(count.get().error().code, Errc::kTimedOut);
}

TEST_F(TimedWait, NotForTheParentsQueueInAChild) {
  const int status = status_of_child(STDERR_FILENO, [this] {
    EXPECT_EQ(pair.server.cq.wait(done, 0ms).error().code, Errc::kInvalidState);
    EXPECT_EQ(pair.server.cq.wait(done).error().code, Errc::kInvalidState);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft::verbs::test
