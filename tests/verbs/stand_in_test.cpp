// SPDX-License-Identifier: Apache-2.0
// A thread that waits for connection events again and again stands in for the progress thread. It does so for all
// connections, and whatever becomes of it, they are served.
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

#include "hand_peer.hpp"
#include "loopback.hpp"
#include "nagging.hpp"
#include "verbs/detail/runtime.hpp"

namespace weft::verbs::test {
namespace {

// What stands in is a habit told from waits close to each other. On a busy machine a thread that was woken has to have
// a processor soon; so has one that it starts. Without the right to it (root) the tests need a machine with some time.
class Urgent {
 public:
  Urgent() { ::setpriority(PRIO_PROCESS, 0, -20); }
  ~Urgent() { ::setpriority(PRIO_PROCESS, 0, before_); }
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;

 private:
  const int before_ = ::getpriority(PRIO_PROCESS, 0);
};

// Two ends with a listener at one channel, and two more whose connection only the runtime drives.
struct StandIn : testing::Test {
  StandIn() : runtime(must(detail::Runtime::acquire(), "runtime")) {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.listen(1024), "listen");
  }

  void resolve(std::vector<ConnectionId>& ids) {  // an event at once
    must(ids.emplace_back(must(ConnectionId::create(events), "id")).resolve_address(listener.local_address()),
         "resolve");
  }

  // A thread that gives an event for each that is wanted, when the thread that wants it waits by now. It sleeps until
  // then: on a busy machine it has a processor the sooner.
  class Giver {
   public:
    explicit Giver(StandIn& test) : test_(test) {}
    ~Giver() { over_ = true, wanted_.release(); }
    void want() { wanted_.release(); }

   private:
    void give() {
      std::vector<ConnectionId> ids;  // with the last one its event goes
      for (wanted_.acquire(); !over_; wanted_.acquire()) {
        std::this_thread::sleep_for(50us);
        test_.resolve(ids);
      }
    }
    StandIn& test_;
    std::counting_semaphore<> wanted_{0};
    std::atomic<bool> over_{false};
    std::jthread thread_{[this] { give(); }};
  };

  // Waits for one event after the other, each of which comes soon, until that has made a habit, and for `over` at
  // least. Between two waits it finds events for `busy`.
  void wait_often(std::chrono::milliseconds over = 5ms, std::chrono::microseconds busy = 0us) {
    Giver other(*this);
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() < begun + over || !stood_in_for()) {
      if (std::chrono::steady_clock::now() > begun + kPatience) throw std::runtime_error("nobody stands in");
      other.want();
      must(events.get_event(kPatience), "get_event");
      const auto waited = std::chrono::steady_clock::now();
      for (std::vector<ConnectionId> own; std::chrono::steady_clock::now() < waited + busy; own.clear()) {
        resolve(own);
        must(events.get_event(kPatience), "get_event");
      }
    }
  }
  // A thread that asks stands in when no other does, and no message has come since the last one asked.
  [[nodiscard]] bool stood_in_for() const {
    if (!runtime->progress_threads().proxy_comes() && !runtime->progress_threads().proxy_comes()) return true;
    runtime->progress_threads().proxy_leaves();
    return false;
  }
  void write_and_see(int value) {
    write_octet(*pair.client.qp, near, far, static_cast<std::byte>(value));
    wait_until([&] { return look_at(far.octets.data()) == static_cast<std::byte>(value); }, "the Write");
  }

  const Urgent priority;
  const ProgressThreadCount one{1};
  Pair pair;
  Buffer near{pair.client, 64}, far{pair.server, 64};
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  const std::shared_ptr<detail::Runtime> runtime;
  std::atomic<bool> waits{false};
};

TEST_F(StandIn, WhoWaitsAgainAndAgainServes) {
  EXPECT_FALSE(stood_in_for());
  wait_often();
  wait_until([&] { return !stood_in_for(); }, "it has gone, and still stands in");
}

// One that seldom has to wait, for there is much to do.
TEST_F(StandIn, SoDoesWhoFindsEventsBetweenTheWaits) {
  EXPECT_FALSE(stood_in_for());
  wait_often(0ms, 1100us);  // no two waits are close, and all calls: when no other takes the processor meanwhile
  wait_until([&] { return !stood_in_for(); }, "it has gone, and still stands in");
}

TEST_F(StandIn, IsThereForAllOthersAndWhenItHasGoneTheProgressThreadIs) {
  for (int round = 1; round <= 20; ++round) {
    wait_often();
    std::thread waits;
    if (round % 2 == 0) waits = std::thread([&] { EXPECT_TRUE(events.get_event(kPatience)); });
    write_and_see(round);  // beside a thread that waits, or has just gone
    if (round % 4 == 0) std::this_thread::sleep_for(15ms), write_and_see(100 + round);  // it was quiet for a while
    if (!waits.joinable()) continue;
    const HandPeer peer(listener.local_address());
    waits.join();
  }
}

TEST_F(StandIn, NothingIsLostAmongSeveral) {
  constexpr int kEach = 300;
  std::atomic<int> taken{0};
  const auto take = [&] {
    while (taken < 2 * kEach) {
      if (events.get_event(20ms)) ++taken;
    }
  };
  const auto connect = [&] {
    for (int i = 0; i < kEach; ++i) HandPeer(listener.local_address()).wait_for<engine::Rejected>();
  };
  {
    const std::jthread first(take), second(take), near(connect), far(connect);
  }
  EXPECT_EQ(taken, 2 * kEach);
}

// Others may have much to do: that is the progress thread's, when no event comes.
TEST_F(StandIn, OneWhoWaitsForLongIsRelieved) {
  wait_often();
  std::thread waits([&] { EXPECT_TRUE(events.get_event(kPatience)); });
  const auto end = std::chrono::steady_clock::now() + 30ms;
  for (int round = 1; std::chrono::steady_clock::now() < end; ++round) write_and_see(round);
  const HandPeer peer(listener.local_address());
  waits.join();
  EXPECT_FALSE(stood_in_for()) << "until a tick finds that it has gone";
}

// A thread that stands in may be at work elsewhere when a message comes. So there is one that always comes, once there
// are any.
TEST_F(StandIn, IsForSetUpsAlone) {
  wait_often();
  wait_until([&] { return !stood_in_for(); }, "it has gone, and still stands in");
  write_and_see(1);
  EXPECT_FALSE(runtime->progress_threads().proxy_comes()) << "there are messages";
  EXPECT_TRUE(runtime->progress_threads().proxy_comes()) << "no more";
  runtime->progress_threads().proxy_leaves();
  std::thread waits([&] { EXPECT_TRUE(events.get_event(kPatience)); });
  wait_until([&] { return stood_in_for(); }, "somebody waits to be woken");
  const HandPeer peer(listener.local_address());
  waits.join();
  EXPECT_FALSE(stood_in_for());
}

// A step of the other thread's, not of a socket's: it comes by the descriptor.
TEST_F(StandIn, HearsWhatOthersDo) {
  for (int round = 0; round < 20; ++round) {
    wait_often();
    ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
    std::thread other([&] {
      std::this_thread::sleep_for(1ms);
      must(id.resolve_address(listener.local_address()), "resolve");
    });
    auto event = events.get_event(kPatience);
    other.join();
    EXPECT_EQ(must(std::move(event), "get_event").type, ConnectionEventType::kAddressResolved);
  }
}

// A program may look at the descriptor first, instead of asking.
TEST_F(StandIn, WhatItDoesItselfNeedsNoDescriptorAndIsToldThereBeforeLong) {
  const auto is_told = [&](std::chrono::milliseconds at_most) {
    pollfd wait{.fd = events.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&wait, 1, static_cast<int>(at_most.count())) == 1;
  };
  int held_back = 0;
  for (int round = 0; round < 20; ++round) {
    wait_often();
    ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
    must(id.resolve_address(listener.local_address()), "resolve");
    if (!is_told(0ms)) ++held_back;
    if (round % 2 == 0) {
      EXPECT_TRUE(is_told(kPatience));
    }
    EXPECT_EQ(must(events.get_event(kPatience), "get_event").type, ConnectionEventType::kAddressResolved);
  }
  EXPECT_GT(held_back, 0);
}

TEST_F(StandIn, WaitsNoLongerThanItIsTold) {
  wait_often();
  const auto begun = std::chrono::steady_clock::now();
  for (const auto time : {0ms, 3ms, 30ms}) {
    EXPECT_EQ(events.get_event(time).error().code, Errc::kTimedOut);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, time);
  }
}

TEST_F(StandIn, ASignalEndsTheWait) {
  wait_often();
  const Nagging nagging;
  EXPECT_EQ(events.get_event().error().code, Errc::kInterrupted);
}

TEST_F(StandIn, MayBeCancelled) {
  if (weft::test::kThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer sees no lock of a thread that was cancelled in a system call";
  for (int round = 1; round <= 10; ++round) {
    waits = false;
    pthread_t thread{};
    const auto wait = [](void* self) -> void* {
      auto& test = *static_cast<StandIn*>(self);
      test.wait_often();
      test.waits = true;
      static_cast<void>(test.events.get_event());
      return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, nullptr, wait, this), 0);
    wait_until([&] { return waits.load(); }, "nobody stands in");
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + round % 3 * 6));  // of which it serves for the first ten
    ASSERT_EQ(::pthread_cancel(thread), 0);
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
    write_and_see(round);
  }
}

}  // namespace
}  // namespace weft::verbs::test
