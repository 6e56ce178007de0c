// SPDX-License-Identifier: Apache-2.0
// Threads that poll a completion queue drive its connections, few or many; when they go, the progress threads do.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "epoll_sets.hpp"
#include "hand_peer.hpp"
#include "loopback.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::test {
namespace {

using Clock = std::chrono::steady_clock;

// While a thread polls, finds nothing and helps, a lone progress thread rests.
TEST(LivePollers, TheProgressThreadReplacesWhoGoes) {
  Pair polled;
  Pair passive;
  Buffer near{passive.client, 64}, far{passive.server, 64};
  for (int round = 1; round <= 20; ++round) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(round % 5);
    while (std::chrono::steady_clock::now() < end) EXPECT_EQ(drain(polled.client.cq), 0U);
    if (round % 2 == 0) must(polled.client.cq.arm(Arm::kAll), "arm");
    const auto value = static_cast<std::byte>(round);
    write_octet(*passive.client.qp, near, far, value);
    wait_until([&] { return look_at(far.octets.data()) == value; }, "the Write");
  }
}

// With no socket but its listener's the progress thread has nothing to be relieved of.
TEST(LivePollers, WhoSpinsIsConnectedToAllTheSame) {
  Pair pair;
  const auto spin_until = [&](const auto& done) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!done() && std::chrono::steady_clock::now() < end) {
      for (End* one : {&pair.client, &pair.server}) EXPECT_EQ(drain(one->cq), 0U);
    }
  };
  const auto begun = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  spin_until([&] { return std::chrono::steady_clock::now() > begun; });
  HandPeer peer(pair.listener.local_address());
  pollfd events{.fd = pair.events.descriptor(), .events = POLLIN, .revents = 0};
  spin_until([&] { return ::poll(&events, 1, 0) == 1; });
  ASSERT_EQ(::poll(&events, 1, 0), 1) << "the peer was never let in";
  pair.event(ConnectionEventType::kConnectRequest);
}

// How many sockets are in epoll sets.
std::size_t registered() {
  int all = 0;
  for (const auto& [name, sockets] : epoll_sets(~0U)) all += sockets;
  return static_cast<std::size_t>(all);
}

// Of a connection with two queues, whichever is polled.
TEST(LivePollers, TakeTheSocketAndItIsInNoSet) {
  for (const auto& [two_queues, receives] : {std::pair(false, false), {true, false}, {true, true}}) {
    Pair pair({.server = {.own_receive_cq = two_queues}});
    auto& queue = receives ? pair.server.receive_cq : pair.server.cq;
    wait_until([] { return registered() == 2; }, "both are watched");
    bool left = false;  // a pause would bring it back
    for (const auto end = Clock::now() + kPatience; !left && Clock::now() < end; left = registered() == 1) {
      for (int i = 0; i < 100; ++i) EXPECT_EQ(drain(queue), 0U);
    }
    EXPECT_TRUE(left) << two_queues << receives;
    must(queue.arm(Arm::kAll), "arm");
    // Perhaps by a tick that has just found that the presence is over.
    wait_until([] { return registered() == 2; }, "it is about to sleep");
  }
}

// Connections that share a completion queue at one end.
struct SharedQueue : testing::Test {
  SharedQueue() {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.listen(), "listen");
  }

  // From a client of its own.
  std::unique_ptr<QueuePair> connect(End& client) {
    client.id = must(ConnectionId::create(events), "id");
    resolve(*client.id, events, listener.local_address());
    auto server = std::make_unique<QueuePair>(
        must(shared.domain.create_queue_pair({.send_cq = &shared.cq, .receive_cq = &shared.cq}), "qp"));
    establish(*client.id, events, *client.qp, *server);
    return server;
  }

  End shared;
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "id");
};

// More connections on one queue than are read one by one.
struct ManyOnOneQueue : SharedQueue {
  static constexpr std::size_t kCount = 12;

  ManyOnOneQueue() {
    for (std::size_t i = 0; i < kCount; ++i) servers.push_back(connect(*clients.emplace_back(std::make_unique<End>())));
  }
  void send_to(std::size_t one) {
    must(servers[one]->post_receive({.wr_id = servers[one]->number()}), "post_receive");
    must(clients[one]->qp->post_send({.opcode = SendOpcode::kSend}), "send");
  }
  void expect_one() {
    const auto done = shared.next();
    EXPECT_EQ(done.status, WcStatus::kSuccess);
    EXPECT_EQ(done.wr_id, done.qp_num);
  }
  void spin_for(std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) EXPECT_EQ(drain(shared.cq), 0U);
  }

  std::vector<std::unique_ptr<End>> clients;
  std::vector<std::unique_ptr<QueuePair>> servers;
};

TEST_F(ManyOnOneQueue, EachIsServed) {
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) send_to(i);
    for (std::size_t i = 0; i < kCount; ++i) expect_one();
  }
}

// Else an application that polls now and then would have thousands of sockets leave the progress threads and come back.
TEST_F(ManyOnOneQueue, ThoseInUseLeaveTheProgressThreads) {
  spin_for(5ms);  // now the queue has a set of its own
  must(shared.cq.arm(Arm::kAll), "arm");
  wait_until([&] { return registered() == 3 * kCount; }, "all sockets are watched, those of the queue twice");
  bool left = false;                                                                   // a pause would bring it back
  for (const auto end = Clock::now() + 6 * kPatience; !left && Clock::now() < end;) {  // a busy machine pauses it
    spin_for(2ms);
    EXPECT_EQ(registered(), 3 * kCount) << "none is in use";
    send_to(3);
    expect_one();
    for (int i = 0; i < 100; ++i) drain(shared.cq);
    left = registered() == 3 * kCount - 1;
    must(shared.cq.arm(Arm::kAll), "arm");
    wait_until([&] { return registered() == 3 * kCount; }, "it is about to sleep");
  }
  EXPECT_TRUE(left);
}

// Connections that were in use, or were not, or come again: in each round others.
TEST_F(ManyOnOneQueue, WhoStopsLeavesNoneBehind) {
  Buffer far{shared, kCount};
  std::vector<Buffer> near;
  for (auto& client : clients) near.emplace_back(*client, 1);
  for (unsigned round = 1; round <= 20; ++round) {
    spin_for(std::chrono::milliseconds(round % 3));
    for (std::size_t i = 0; i < kCount; i += round % 4 + 1) send_to(i);
    for (std::size_t i = 0; i < kCount; i += round % 4 + 1) expect_one();
    spin_for(std::chrono::milliseconds(round % 2));
    if (round % 5 == 0) must(shared.cq.arm(Arm::kAll), "arm");
    for (std::size_t i = 0; i < kCount; ++i) {
      near[i].octets.front() = static_cast<std::byte>(round);
      const Sge from = near[i].sge();
      must(clients[i]->qp->post_send({.opcode = SendOpcode::kRdmaWrite,
                                      .segments = {&from, 1},
                                      .remote_address = far.remote() + i,
                                      .rkey = far.region.rkey()}),
           "write");
    }
    const auto placed = [&](const std::byte& octet) { return look_at(&octet) == static_cast<std::byte>(round); };
    wait_until([&] { return std::ranges::all_of(far.octets, placed); }, "the Writes");
  }
}

// Other threads begin to poll the queue and stop, again and again.
TEST_F(SharedQueue, ConnectionsComeAndGoUnderPollers) {
  constexpr int kTimes = 300;
  std::atomic<bool> stop{false};
  const auto poll_and_stop = [&] {
    while (!stop) {
      for (int i = 0; i < 12; ++i) drain(shared.cq);
      must(shared.cq.arm(Arm::kAll), "arm");
    }
  };
  std::jthread first(poll_and_stop), second(poll_and_stop);
  const std::unique_ptr<void, std::function<void(void*)>> at_the_end(&stop, [&](void*) { stop = true; });
  std::vector<std::unique_ptr<QueuePair>> servers(12);
  for (int i = 0; i < kTimes; ++i) {
    End client;
    servers[static_cast<std::size_t>(i) % servers.size()] = connect(client);
  }
}

}  // namespace
}  // namespace weft::verbs::test
