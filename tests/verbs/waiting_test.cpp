// SPDX-License-Identifier: Apache-2.0
// A thread that waits on a completion channel drives the sockets itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>

#include <csignal>
#include <future>
#include <thread>

#include "epoll_sets.hpp"
#include "loopback.hpp"
#include "tests/skips/sanitizers.hpp"

namespace weft::verbs::test {
namespace {

void* wait_for_ever(void* channel) {
  while (static_cast<CompletionChannel*>(channel)->get_event()) {
  }
  return nullptr;
}

struct Waiting : testing::Test {
  explicit Waiting(const PairOptions& options = {}) : pair(options) {}

  Pair pair;
  Buffer near{pair.client, 64}, far{pair.server, 64};
  const std::map<std::string, int> at_first = epoll_sets();  // those of weft's own threads

  // How many sockets wake weft's threads, and how many a thread that waits.
  std::pair<int, int> watched() const {
    std::pair<int, int> count{};
    for (const auto& [name, sockets] : epoll_sets()) (at_first.contains(name) ? count.first : count.second) += sockets;
    return count;
  }
  void expect_watched(std::pair<int, int> wanted, const char* what) const {
    wait_until([&] { return watched() == wanted; }, what);  // a tick may change it again at once
  }
  void post_receive() {
    const auto sge = far.sge();
    must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&sge, 1}}), "post_receive");
  }
  void send() {
    const auto sge = near.sge();
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&sge, 1}}), "post_send");
  }
  // Waits in a thread of its own for a completion that is still to come.
  std::future<Result<CompletionEvent>> wait() {
    must(pair.server.cq.arm(Arm::kAll), "arm");
    return std::async(std::launch::async, [this] {
      thread = ::pthread_self();
      return pair.server.channel.get_event();
    });
  }
  // The server waits for a Send, as it then has the habit to, and posts work request 2, whose event waits now.
  void wait_once_and_post() {
    post_receive();
    auto event = wait();
    expect_watched({1, 1}, "the server's by the thread that waits");
    send();
    must(event.get(), "get_event");
    EXPECT_EQ(pair.server.next().wr_id, 1U);
    must(pair.server.cq.arm(Arm::kAll), "arm");
    const auto sge = far.sge(0, 1);
    must(pair.server.qp->post_send({.wr_id = 2,
                                    .opcode = SendOpcode::kRdmaWrite,
                                    .flags = SendFlags::kSignaled,
                                    .segments = {&sge, 1},
                                    .remote_address = near.remote(),
                                    .rkey = near.region.rkey()}),
         "post_send");
  }

  std::atomic<pthread_t> thread{};
};

TEST_F(Waiting, WhoWaitsIsWokenItself) {
  expect_watched({2, 0}, "both ends, by weft's thread");
  post_receive();
  auto event = wait();
  expect_watched({1, 1}, "the server's by the thread that waits");
  send();
  EXPECT_EQ(must(event.get(), "get_event").cq_number, pair.server.cq.number());
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  expect_watched({2, 1}, "weft's thread has both again; nobody sleeps in the other set");
}

TEST_F(Waiting, AgainAndAgain) {
  for (int i = 0; i < 200; ++i) {
    post_receive();
    auto event = wait();
    send();
    must(event.get(), "get_event");
    EXPECT_EQ(pair.server.next().wr_id, 1U);
  }
}

// The second one sleeps on the descriptor.
TEST_F(Waiting, TwoMayWait) {
  post_receive();
  auto first = wait();
  expect_watched({1, 1}, "the first drives");
  auto second = wait();
  send();
  send();  // waits for a receive
  while (first.wait_for(1ms) != std::future_status::ready && second.wait_for(1ms) != std::future_status::ready) {
  }
  must(pair.server.cq.arm(Arm::kAll), "arm");
  post_receive();
  must(first.get(), "first");
  must(second.get(), "second");
}

// It would be woken for octets that it cannot take, again and again.
struct WaitingOverTcp : Waiting {
  WaitingOverTcp() : Waiting({.client_policy = {.startup = {.same_host = SameHost::kOff}}}) {}
};

TEST_F(WaitingOverTcp, AStreamThatWaitsForAReceiveWakesNobody) {
  auto event = wait();
  expect_watched({1, 1}, "the server's by the thread that waits");
  send();
  expect_watched({1, 0}, "no receive is posted");
  post_receive();
  must(event.get(), "get_event");
}

TEST_F(Waiting, ConnectionsThatCloseWakeIt) {
  must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  auto event = wait();
  expect_watched({1, 1}, "the server's by the thread that waits");
  must(pair.client.id->disconnect(), "disconnect");
  must(event.get(), "get_event");
  EXPECT_EQ(pair.server.next().status, WcStatus::kFlushed);
  pair.event(ConnectionEventType::kDisconnected);
}

// A thread that finds an event each time it comes does not sleep in the set, but the sockets are its own all the same.
// In some rounds, on a busy machine, the progress thread takes them over meanwhile.
TEST_F(Waiting, WhoFindsAnEventWithoutWaitingReadsAsWell) {
  constexpr int kWanted = 50;
  int seen_at_once = 0;
  for (int round = 1; round <= 10 * kWanted && seen_at_once < kWanted; ++round) {
    wait_once_and_post();
    const auto value = static_cast<std::byte>(round % 255 + 1);
    near.octets.back() = value;
    const auto last = near.sge(near.octets.size() - 1, 1);
    must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaWrite,
                                    .segments = {&last, 1},
                                    .remote_address = far.remote() + far.octets.size() - 1,
                                    .rkey = far.region.rkey()}),
         "post_send");
    must(pair.server.channel.get_event(), "get_event");
    if (look_at(&far.octets.back()) == value) ++seen_at_once;
    wait_until([&] { return look_at(&far.octets.back()) == value; }, "the Write");
    EXPECT_EQ(pair.server.next().wr_id, 2U);
  }
  EXPECT_EQ(seen_at_once, kWanted);
}

// A program may wait in get_event now and look at the descriptor another time.
TEST_F(Waiting, WhatItPostsShowsAtTheDescriptorBeforeLong) {
  for (int round = 0; round < 20; ++round) {
    wait_once_and_post();
    pollfd waiting{.fd = pair.server.channel.descriptor(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&waiting, 1, std::chrono::milliseconds(kPatience).count()), 1);
    must(pair.server.channel.get_event(), "get_event");
    EXPECT_EQ(pair.server.next().wr_id, 2U);
  }
}

void handle(int) {}

struct Signals : Waiting {
  struct sigaction before{};
  void set(int flags) {
    struct sigaction action{};
    action.sa_handler = handle;
    action.sa_flags = flags;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  }
  ~Signals() override { ::sigaction(SIGUSR1, &before, nullptr); }
};

TEST_F(Signals, AHandlerThatRestartsDoesNotEndTheWait) {
  set(SA_RESTART);
  post_receive();
  auto event = wait();
  expect_watched({1, 1}, "it waits");
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(::pthread_kill(thread, SIGUSR1), 0);
    ASSERT_EQ(event.wait_for(5ms), std::future_status::timeout);
  }
  send();
  must(event.get(), "get_event");
}

TEST_F(Signals, AnyOtherDoes) {
  set(0);
  auto event = wait();
  expect_watched({1, 1}, "it waits");
  while (event.wait_for(1ms) != std::future_status::ready) ASSERT_EQ(::pthread_kill(thread, SIGUSR1), 0);
  EXPECT_EQ(event.get().error().code, Errc::kInterrupted);
}

// pthread_cancel() ends the thread, and no more: the next one waits and drives as before.
TEST_F(Waiting, AThreadMayBeCancelledInIt) {
  if (weft::test::kThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer sees no lock of a thread that was cancelled in a system call";
  must(pair.server.cq.arm(Arm::kAll), "arm");
  pthread_t thread{};
  ASSERT_EQ(::pthread_create(&thread, nullptr, &wait_for_ever, &pair.server.channel), 0);
  expect_watched({1, 1}, "it waits");
  ASSERT_EQ(::pthread_cancel(thread), 0);
  void* end = nullptr;
  ASSERT_EQ(::pthread_join(thread, &end), 0);
  EXPECT_EQ(end, PTHREAD_CANCELED);
  auto next = wait();
  post_receive();
  send();
  EXPECT_TRUE(next.get());
}

TEST_F(Waiting, NotWhereTheDescriptorsModeIsNotTo) {
  must(pair.server.cq.arm(Arm::kAll), "arm");
  const int descriptor = pair.server.channel.descriptor();
  ASSERT_EQ(::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK), 0);
  EXPECT_EQ(pair.server.channel.get_event().error().code, Errc::kWouldBlock);
  expect_watched({2, 0}, "nothing was taken over");
}

}  // namespace
}  // namespace weft::verbs::test
