// SPDX-License-Identifier: Apache-2.0
// What the verbs do with a stream's lock held meets no cancellation point (transport/cancellation.hpp): a thread that
// was cancelled beforehand, and would end at the first one, comes through all of it.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "loopback.hpp"
#include "tests/temporary_directory.hpp"

namespace weft::verbs::test {
namespace {

struct Cancelled : testing::Test {
  struct Thread {
    const std::function<void()>& work;
    bool through = false;
  };
  static void* run(void* argument) {
    auto& self = *static_cast<Thread*>(argument);
    ::pthread_cancel(::pthread_self());  // at the next cancellation point
    self.work();
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    self.through = true;
    return nullptr;
  }
  static void expect_through(const std::function<void()>& work) {
    Thread thread{work};
    pthread_t id{};
    ASSERT_EQ(::pthread_create(&id, nullptr, &run, &thread), 0);
    ASSERT_EQ(::pthread_join(id, nullptr), 0);
    EXPECT_TRUE(thread.through) << "the thread ended at a cancellation point";
  }

  // Polls, and does nothing that could end the thread itself.
  static void poll(CompletionQueue& queue, std::size_t completions) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    WorkCompletion completion;
    while (completions != 0 && std::chrono::steady_clock::now() < end) {
      const auto count = queue.poll({&completion, 1});
      if (count) completions -= *count;
    }
    EXPECT_EQ(completions, 0U);
  }

  // A Send with a completion, an event and, where it was long, a place of its own.
  static void send(Pair& pair, Buffer& from, Buffer& into) {
    const Sge source = from.sge(), sink = into.sge();
    must(pair.server.qp->post_receive({.segments = {&sink, 1}}), "post_receive");
    must(pair.client.cq.arm(Arm::kAll), "arm");
    must(pair.server.cq.arm(Arm::kAll), "arm");
    must(pair.client.qp->post_send(
             {.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&source, 1}}),
         "post_send");
    poll(pair.server.cq, 1);
    poll(pair.client.cq, 1);
  }
  static void send(const PairOptions& options, std::size_t size) {
    Pair pair(options);
    Buffer from(pair.client, size), into(pair.server, size);
    expect_through([&] { send(pair, from, into); });
  }
};

TEST_F(Cancelled, SendsAndPolls) { send({}, 64); }
TEST_F(Cancelled, SendsLongMessages) { send({}, 4 << 20); }
TEST_F(Cancelled, SendsWithoutACrc) {
  const Policy without{.startup = {.crc = false}};
  send({.client_policy = without, .server_policy = without}, 4 << 20);
}

TEST_F(Cancelled, TellsWhatItDoes) {
  set_log_level(LogLevel::kDebug);
  send({}, 64);
  set_log_level(LogLevel::kWarn);
}

TEST_F(Cancelled, Captures) {
  const weft::test::TemporaryDirectory directory;
  must(set_capture_file(directory.file("cancelled.pcap")), "set_capture_file");
  send({}, 64);
  must(set_capture_file(""), "stop");
}

TEST_F(Cancelled, Ends) {
  Pair pair;
  expect_through([&] {
    must(pair.client.id->disconnect(), "disconnect");
    must(pair.server.id->disconnect(), "disconnect");
    must(pair.client.qp->modify(QpState::kError), "modify");
    must(pair.server.qp->modify(QpState::kReset), "modify");
  });
}

}  // namespace
}  // namespace weft::verbs::test
