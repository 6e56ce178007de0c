// SPDX-License-Identifier: Apache-2.0
// A thread that waits for connection events again and again serves in place of the progress thread. The test is that
// thread. Its waits have a virtual time, and ticks come by hand: weft's timers have no thread here.
#include "verbs/progress/proxy.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "loopback.hpp"
#include "nagging.hpp"
#include "tests/transport/support.hpp"
#include "verbs/connecting/event_channel_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using transport::test::Mailbox;
using Clock = Driver::Clock;
using Ended = Proxy::Ended;

const auto kNever = [] { return false; };

struct Proxies : testing::Test {
  Proxies() { threads().start({}, {}); }  // the progress thread alone

  [[nodiscard]] ProgressThreads& threads() const { return runtime->progress_threads(); }
  [[nodiscard]] Proxy& proxy() const { return channel->proxy(); }
  [[nodiscard]] std::unique_ptr<EventChannelState> make_channel() const {
    return std::make_unique<EventChannelState>(*runtime, NotificationQueue<QueuedEvent>::create(8).value());
  }
  void arrive() {
    while (!Proxy::Wait(proxy(), now += 1us).serves()) {
    }
  }
  // Whether the proxy has gone with it.
  bool tick() const {
    const bool over = proxy().is_over();
    threads().on_tick(false);
    return over;
  }
  [[nodiscard]] bool rests() const {
    EXPECT_EQ(threads().any_rests(), threads().has_proxy());
    return threads().any_rests();
  }
  [[nodiscard]] bool shows() const {
    pollfd events{.fd = channel->events->descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&events, 1, 0) == 1;
  }

  const test::ProgressThreadCount one{1};
  const std::shared_ptr<Runtime> runtime = Runtime::acquire().value();
  std::unique_ptr<EventChannelState> channel = make_channel();
  Clock::time_point now{1h};
  std::atomic<pid_t> sleeper = 0;
};

// --- Presence

struct Call {
  std::chrono::microseconds gap;
  bool waits = true;  // or finds an event at once
};
using Calls = std::vector<Call>;

// `count` waits, with an event found after each.
Calls waits_and_finds(int count, std::chrono::microseconds gap) {
  Calls calls;
  for (int i = 0; i < count; ++i) calls.insert(calls.end(), {{.gap = gap}, {.gap = gap, .waits = false}});
  return calls;
}

struct CallsRow {
  const char* what;
  Calls calls;
  int serves_with;  // the number of the call; 0: it does not
};
const std::vector<CallsRow> kCallsRows{
    {"waits close to each other", Calls(10, {.gap = 1ms}), 4},
    {"waits with long pauses", Calls(20, {.gap = 1001us}), 0},
    {"seldom has to wait, for there is much to do", waits_and_finds(10, 600us), 7},
    {"finds events, and makes pauses", waits_and_finds(10, 1001us), 0},
    {"always finds an event", Calls(50, {.gap = 1us, .waits = false}), 0},
};

int serves_with(Proxy& proxy, const Calls& calls) {
  Clock::time_point now(1h);
  int number = 0;
  for (const Call& call : calls) {
    ++number;
    now += call.gap;
    if (!call.waits) proxy.come_by(now);
    if (call.waits && Proxy::Wait(proxy, now).serves()) return number;
  }
  return 0;
}

TEST_F(Proxies, ServeByThisTable) {
  for (const CallsRow& row : kCallsRows) {
    channel = make_channel();
    EXPECT_FALSE(rests()) << row.what;
    EXPECT_EQ(serves_with(proxy(), row.calls), row.serves_with) << row.what;
    EXPECT_EQ(rests(), row.serves_with != 0) << row.what;
  }
  channel.reset();
  EXPECT_FALSE(rests()) << "the channel has gone";
}

// Who serves when a poller leaves: the progress thread at once, but for a proxy.
TEST_F(Proxies, AreNotSentAwayByAPollerThatLeaves) {
  threads().of(0).rest();  // a poller has served
  threads().poller_leaves();
  EXPECT_FALSE(threads().any_rests());
  arrive();
  ASSERT_TRUE(rests());
  threads().poller_leaves();
  EXPECT_TRUE(rests());
}

TEST_F(Proxies, GoWithTheFirstTickInWhichTheyDidNotCome) {
  arrive();
  EXPECT_FALSE(tick());
  EXPECT_TRUE(rests());
  proxy().come_by(now);
  EXPECT_FALSE(tick()) << "there was an event";
  {
    const Proxy::Wait wait(proxy(), now);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(tick()) << "it is there and waits";
  }
  EXPECT_FALSE(tick());
  EXPECT_TRUE(tick());
  EXPECT_FALSE(rests());
  EXPECT_FALSE(Proxy::Wait(proxy(), now).serves()) << "a row begins anew";
}

// Others may have much to do: that is the progress thread's, when no event comes.
TEST_F(Proxies, StepBackWhenNoEventComesForLong) {
  arrive();
  {
    const Proxy::Wait wait(proxy(), now);
    ASSERT_TRUE(wait.serves());
    EXPECT_EQ(proxy().serve_until(Clock::now() + 1ms, kNever), Ended::kNoEvent);
    EXPECT_TRUE(rests()) << "it was not told to wait for long";
    EXPECT_EQ(proxy().serve_until(Clock::time_point::max(), kNever), Ended::kNoEvent);
    EXPECT_FALSE(rests());
  }
  EXPECT_FALSE(Proxy::Wait(proxy(), now).serves());
}

TEST_F(Proxies, AreOneAtATime) {
  arrive();
  const auto other = make_channel();
  EXPECT_EQ(serves_with(other->proxy(), Calls(20, {.gap = 1us})), 0);
  const Proxy::Wait first(proxy(), now);
  EXPECT_TRUE(first.serves());
  EXPECT_FALSE(Proxy::Wait(proxy(), now).serves()) << "a second thread sleeps on the descriptor";
}

// --- What it serves

TEST_F(Proxies, ServeWhatComesForOthersAndWhenTheyHaveGoneTheProgressThreadDoes) {
  auto [near, far] = transport::test::connected_pair();
  Mailbox<std::pair<std::thread::id, bool>> called;
  const auto call = [&] { called.put({std::this_thread::get_id(), proxy().drives_here()}); };
  const auto token = threads().of(0).visit(far, call);
  ASSERT_TRUE(token);
  const auto write = [&near, &far] {
    transport::test::write_one(near, transport::test::pattern(1));
    ASSERT_TRUE(transport::test::becomes_readable(far.descriptor()));
  };
  const auto is_there = [&] { return called.size() != 0; };
  for (int round = 0; round < 3; ++round) {
    write();
    EXPECT_NE(called.take().value().first, std::this_thread::get_id());
    arrive();
    transport::test::wait_for_rest();  // else it is about to serve
    write();
    {
      const Proxy::Wait wait(proxy(), now);
      EXPECT_EQ(proxy().serve_until(Clock::now() + transport::test::kPatience, is_there), Ended::kEvent);
    }
    EXPECT_EQ(called.take(), std::pair(std::this_thread::get_id(), true));
    EXPECT_FALSE(proxy().drives_here());
    while (!tick()) {
    }
  }
  threads().of(0).leave(far, *token);
}

TEST_F(Proxies, AreNotForThoseThatAreToBeWoken) {
  arrive();
  {
    const Proxy::Sleep sleep(proxy());
    EXPECT_FALSE(threads().any_rests()) << "at once";
    EXPECT_FALSE(tick());
    EXPECT_FALSE(threads().any_rests());
    const auto other = make_channel();
    EXPECT_EQ(serves_with(other->proxy(), Calls(20, {.gap = 1us})), 0);
  }
  proxy().come_by(now);
  EXPECT_FALSE(tick());
  EXPECT_TRUE(rests()) << "it is awake, and the proxy is still there";
}

// One may be at work elsewhere when a message comes. So there is a thread that always comes, once there are any.
TEST(ProxiesAndMessages, AreNotForEachOther) {
  auto [near, far] = transport::test::connected_pair();
  std::array<std::byte, 8> into{};
  ProgressThreads threads;
  ASSERT_TRUE(threads.open(1, [&](const transport::Ready&) { return far.read(into).octets != 0; }));
  threads.start({}, {});
  ASSERT_FALSE(threads.of(0).add(far, 5, transport::kReadInterest));
  const auto message = [&] {
    transport::test::wait_for_rest();
    transport::test::write_one(near, transport::test::pattern(1));
    ASSERT_TRUE(transport::test::becomes_readable(far.descriptor()));
    while (threads.serve_one()) {
    }
  };
  ASSERT_TRUE(threads.proxy_comes());
  message();
  EXPECT_TRUE(threads.any_rests());
  threads.on_tick(false);
  EXPECT_FALSE(threads.any_rests()) << "there are messages";
  threads.on_tick(false);
  EXPECT_TRUE(threads.any_rests()) << "no more";
  message();
  threads.proxy_leaves();
  EXPECT_FALSE(threads.proxy_comes()) << "there are messages";
  EXPECT_TRUE(threads.proxy_comes()) << "no more";
  threads.proxy_leaves();
  threads.of(0).remove(far);
  threads.stop();
}

// --- Events

// A step of the other thread's, not of a socket's: it comes by the descriptor.
TEST_F(Proxies, HearWhatOthersDo) {
  for (int round = 0; round < 20; ++round) {
    arrive();
    const std::jthread other([&] {
      while (!proxy().is_waiting() && threads().has_proxy()) std::this_thread::yield();
      channel->post({.event = {.type = ConnectionEventType::kAddressResolved}});
    });
    const auto event = channel->get_event();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->event.type, ConnectionEventType::kAddressResolved);
  }
}

// A program may look at the descriptor first, instead of asking.
TEST_F(Proxies, NeedNoDescriptorForWhatTheyDoThemselvesAndItIsToldThereBeforeLong) {
  channel->post({});
  EXPECT_TRUE(shows()) << "nobody comes by itself";
  ASSERT_TRUE(channel->get_event());
  arrive();
  channel->post({});
  EXPECT_FALSE(shows());
  ASSERT_TRUE(channel->get_event()) << "and is there";
  channel->post({});
  EXPECT_FALSE(tick());
  EXPECT_TRUE(shows()) << "with the next tick";
  ASSERT_TRUE(channel->get_event());
  channel->post({});
  {
    const Proxy::Sleep other(proxy());
    EXPECT_TRUE(shows()) << "another thread sleeps there";
    channel->post({});
  }
  ASSERT_TRUE(channel->get_event());
  EXPECT_TRUE(shows()) << "what came while it slept";
  ASSERT_TRUE(channel->get_event());
  EXPECT_FALSE(shows());
  const Proxy::Wait wait(proxy(), now);
  channel->post({});
  EXPECT_TRUE(shows()) << "it waits, and the test is not in what it serves";
}

TEST_F(Proxies, WaitNoLongerThanTheyAreTold) {
  for (const auto time : {0ms, 3ms, 30ms}) {
    arrive();
    const auto begun = Clock::now();
    EXPECT_EQ(channel->get_event(time).error().code, Errc::kTimedOut);
    EXPECT_GE(Clock::now() - begun, time);
  }
}

TEST_F(Proxies, AreEndedByASignal) {
  arrive();
  const test::Nagging nagging;
  EXPECT_EQ(channel->get_event().error().code, Errc::kInterrupted);
}

// In the time in which it serves.
TEST_F(Proxies, MayBeCancelled) {
  if (weft::test::kThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer sees no lock of a thread that was cancelled in a system call";
  for (int round = 0; round < 10; ++round) {
    pthread_t thread{};
    const auto serve = [](void* self) -> void* {
      for (auto& test = *static_cast<Proxies*>(self);;) {
        test.arrive();
        const Proxy::Wait wait(test.proxy(), test.now);
        static_cast<void>(test.proxy().serve_until(Clock::time_point::max(), kNever));
      }
    };
    ASSERT_EQ(::pthread_create(&thread, nullptr, serve, this), 0);
    while (!proxy().is_waiting()) std::this_thread::yield();
    void* end = nullptr;
    ASSERT_EQ(::pthread_cancel(thread), 0);
    ASSERT_EQ(::pthread_join(thread, &end), 0);
    EXPECT_EQ(end, PTHREAD_CANCELED);
    EXPECT_FALSE(proxy().is_waiting() || proxy().drives_here());
    while (!tick()) {
    }
    EXPECT_FALSE(rests());
  }
}

TEST_F(Proxies, MayBeCancelledOnTheDescriptorToo) {
  if (weft::test::kThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer sees no lock of a thread that was cancelled in a system call";
  pthread_t thread{};
  const auto sleep = [](void* self) -> void* {
    auto& test = *static_cast<Proxies*>(self);
    test.sleeper = ::gettid();
    static_cast<void>(test.channel->get_event());  // its first wait: it does not serve
    return nullptr;
  };
  ASSERT_EQ(::pthread_create(&thread, nullptr, sleep, this), 0);
  while (sleeper == 0) std::this_thread::yield();
  transport::test::sleeps_of(sleeper);
  EXPECT_EQ(serves_with(proxy(), Calls(20, {.gap = 1us})), 0) << "that thread is to be woken";
  void* end = nullptr;
  ASSERT_EQ(::pthread_cancel(thread), 0);
  ASSERT_EQ(::pthread_join(thread, &end), 0);
  EXPECT_EQ(end, PTHREAD_CANCELED);
  arrive();
  channel->post({});
  EXPECT_FALSE(shows()) << "no thread sleeps there any more";
}

}  // namespace
}  // namespace weft::verbs::detail
