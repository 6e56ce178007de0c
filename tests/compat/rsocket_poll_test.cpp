// SPDX-License-Identifier: Apache-2.0
// rpoll() with several rsockets takes their locks one after the other and never two at a time: so it matters neither
// how often a list names a socket, nor in which order. The tests stop a thread in the middle of rpoll() by holding the
// lock that it wants next.
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "compat/rsockets/table.hpp"
#include "tests/compat/rsocket_pair.hpp"

namespace weft::compat::rsockets::test {
namespace {

using std::chrono::milliseconds;

void wait_until(const std::function<bool()>& done, const char* what) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(kPatience);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) {  // a thread that waits for a lock for ever cannot be joined
      std::fprintf(stderr, "in vain: %s\n", what);
      std::abort();
    }
    std::this_thread::yield();
  }
}

// A listener. Nothing that is injected makes it ready; a client does.
struct Subject {
  Owner owner = listener();
  std::shared_ptr<Socket> socket = find(owner.number());
  std::vector<verbs::ConnectionId> ids{};

  [[nodiscard]] int number() const { return owner.number(); }
  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(socket->mutex); }
  [[nodiscard]] bool has_event() const {
    pollfd one{.fd = socket->events->descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, 0) == 1;
  }
  // An event that changes nothing.
  void inject() {
    auto id = verbs::ConnectionId::create(*socket->events);
    ASSERT_TRUE(id);
    ids.push_back(std::move(*id));
    ASSERT_TRUE(ids.back().resolve_address({verbs::Address::loopback(transport::Family::kIpv4), 1}));
    wait_until([this] { return has_event(); }, "the event that was injected");
  }
  void wait_until_taken() const {
    wait_until([this] { return !has_event(); }, "rpoll() takes an event");
  }
  [[nodiscard]] bool has_accepted() const {
    const auto held = lock();
    return socket->accepted_count() != 0;
  }
  [[nodiscard]] bool awaited() const {
    const auto held = lock();
    return socket->awaited();
  }
};

// A client that is connected makes it ready.
Owner knock(const Subject& at) {
  Owner client(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  const At name = name_of(at.number());
  expect_refused(rsockets::connect(client.number(), name.address(), name.length), EINPROGRESS);
  return client;
}

std::future<int> poll_in_thread(std::vector<int> numbers) {
  return std::async(std::launch::async, [numbers = std::move(numbers)] {
    std::vector<pollfd> list;
    for (const int number : numbers) list.push_back({.fd = number, .events = POLLIN, .revents = 0});
    return rsockets::poll(list.data(), list.size(), -1);
  });
}

int answer_of(std::future<int>& answer) {
  wait_until([&] { return answer.wait_for(milliseconds(1)) == std::future_status::ready; }, "rpoll() returns");
  return answer.get();
}

TEST(RsocketPoll, TheSameTwiceAndSomethingHappensInBetween) {
  Subject twice;
  Subject gate;
  auto at_gate = gate.lock();
  twice.inject();
  auto answer = poll_in_thread({twice.number(), gate.number(), twice.number()});
  twice.wait_until_taken();  // by the first look, which wants the gate's lock next
  auto at_twice = twice.lock();
  gate.inject();
  at_gate.unlock();
  gate.wait_until_taken();  // and now this one's, for the second time
  at_gate.lock();
  at_twice.unlock();
  wait_until([&] { return twice.awaited(); }, "rpoll() is about to sleep");  // once, and wants the gate's lock
  twice.inject();
  at_gate.unlock();
  const Owner client = knock(twice);
  EXPECT_EQ(answer_of(answer), 2);
}

TEST(RsocketPoll, NoLockIsHeldWhileItWaitsForAnother) {
  Subject first;
  Subject second;
  auto at_second = second.lock();
  first.inject();
  auto answer = poll_in_thread({first.number(), second.number()});
  first.wait_until_taken();
  auto at_first = first.lock();
  second.inject();
  at_second.unlock();
  second.wait_until_taken();
  at_second.lock();  // the look is over
  at_first.unlock();
  wait_until([&] { return first.awaited(); }, "rpoll() is about to sleep");
  at_first.lock();
  second.inject();
  at_second.unlock();
  second.wait_until_taken();  // so it does not sleep, and wants the first one's lock to say so
  wait_until([&] { return at_second.try_lock(); }, "the second one's lock is free");
  at_second.unlock();
  at_first.unlock();
  const Owner client = knock(first);
  EXPECT_EQ(answer_of(answer), 1);
}

TEST(RsocketPoll, WhatAnotherThreadTookSinceTheLookCounts) {
  Subject wanted;
  Subject gate;
  auto at_gate = gate.lock();
  wanted.inject();
  auto answer = poll_in_thread({wanted.number(), gate.number()});
  wanted.wait_until_taken();  // by the look that finds it not ready
  const Owner client = knock(wanted);
  wait_until([&] { return wanted.has_accepted(); }, "the acceptor takes the request");
  at_gate.unlock();
  EXPECT_EQ(answer_of(answer), 1);
}

TEST(RsocketPoll, TheSameTwiceIsReadyTwice) {
  Pair pair;
  pollfd one{.fd = pair.server.number(), .events = POLLIN, .revents = 0};
  std::array list{one, one};
  EXPECT_EQ(rsockets::poll(list.data(), list.size(), 20), 0);
  ASSERT_EQ(put(pair.client.number(), "x"), 1);
  ASSERT_EQ(rsockets::poll(&one, 1, kPatience), 1);  // else it may come between the looks at the two
  EXPECT_EQ(rsockets::poll(list.data(), list.size(), kPatience), 2);
}

// Each in an order of its own, while octets go both ways.
TEST(RsocketPoll, TwoThreadsInOppositeOrder) {
  Pair pair;
  constexpr int kRounds = 500;
  const auto play = [&](int own, int other) {
    for (int i = 0; i < kRounds; ++i) {
      if (put(own, "x") != 1) return -1;
      std::array list{pollfd{.fd = own, .events = POLLIN, .revents = 0}, pollfd{.fd = other, .events = 0, .revents = 0},
                      pollfd{.fd = own, .events = POLLIN, .revents = 0}};
      if (rsockets::poll(list.data(), list.size(), kPatience) < 1 || get_text(own, 1) != "x") return -1;
    }
    return 0;
  };
  auto there = std::async(std::launch::async, play, pair.client.number(), pair.server.number());
  auto back = std::async(std::launch::async, play, pair.server.number(), pair.client.number());
  EXPECT_EQ(answer_of(there), 0);
  EXPECT_EQ(answer_of(back), 0);
}

}  // namespace
}  // namespace weft::compat::rsockets::test
