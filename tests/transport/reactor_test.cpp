// SPDX-License-Identifier: Apache-2.0
#include "transport/reactor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/transport/rest.hpp"
#include "tests/transport/support.hpp"
#include "transport/timer.hpp"

namespace weft::transport::test {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Reactor, RunsTasksInOrderInItsThread) {
  RunningReactor reactor;
  Mailbox<std::pair<int, std::thread::id>> box;
  for (int i = 0; i < 100; ++i) reactor->post([&box, i] { box.put({i, std::this_thread::get_id()}); });
  for (int i = 0; i < 100; ++i) {
    const auto ran = box.take();
    ASSERT_TRUE(ran);
    EXPECT_EQ(ran->first, i);
    EXPECT_NE(ran->second, std::this_thread::get_id());
  }
}

TEST(Reactor, SleepsWhileIdle) {
  if (!rest_can_be_seen()) GTEST_SKIP() << kRestIsHidden;
  RunningReactor reactor;
  expect_rest();
}

TEST(Reactor, StopBeforeRunEndsTheNextRunOnly) {
  Reactor reactor = Reactor::create().value();
  int ran = 0;
  reactor.stop();
  reactor.run();
  reactor.post([&] {
    ++ran;
    reactor.stop();
  });
  reactor.run();
  EXPECT_EQ(ran, 1);
}

TEST(Reactor, DropsTasksThatNeverRan) {
  auto shared = std::make_shared<int>();
  {
    Reactor reactor = Reactor::create().value();
    reactor.post([shared] { FAIL(); });
    EXPECT_EQ(shared.use_count(), 2);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Timer, FiresOnceAndNotEarly) {
  RunningReactor reactor;
  Mailbox<Clock::time_point> fired;
  auto timer = Timer::create(*reactor, [&] { fired.put(Clock::now()); }).value();
  const auto deadline = Clock::now() + 30ms;
  timer.set(deadline);
  const auto at = fired.take();
  ASSERT_TRUE(at);
  EXPECT_GE(*at, deadline);
  EXPECT_FALSE(fired.take(50ms));
}

TEST(Timer, FiresForADeadlineInThePastAndAgainWhenSetAgain) {
  RunningReactor reactor;
  Mailbox<int> fired;
  auto timer = Timer::create(*reactor, [&] { fired.put(1); }).value();
  for (int i = 0; i < 3; ++i) {
    timer.set(Clock::now() - 1h);
    EXPECT_TRUE(fired.take());
  }
}

TEST(Timer, SettingReplaces) {
  RunningReactor reactor;
  Mailbox<int> fired;
  auto timer = Timer::create(*reactor, [&] { fired.put(1); }).value();
  timer.set(Clock::now() + 1min);
  ASSERT_TRUE(next_alarm());
  EXPECT_LE(*next_alarm(), 1min);
  timer.set(Clock::now() + 1h);
  ASSERT_TRUE(next_alarm());
  EXPECT_GT(*next_alarm(), 2min) << "the kernel's timer";
  timer.set(Clock::now());
  EXPECT_TRUE(fired.take());
}

// A deadline that is put off again and again costs its thread nothing.
TEST(Timer, SettingWakesNobody) {
  RunningReactor reactor;
  auto timer = Timer::create(*reactor, [] {}).value();
  timer.set(Clock::now() + 1h);
  const long before = reactor.sleeps();
  for (int i = 0; i < 100; ++i) timer.set(Clock::now() + 1h);
  EXPECT_EQ(reactor.sleeps(), before);
}

TEST(Timer, SaysWhenThereIsNoDescriptor) {
  Reactor reactor = Reactor::create().value();
  const NoDescriptorsLeft here;
  const auto timer = Timer::create(reactor, [] {});
  ASSERT_FALSE(timer);
  EXPECT_EQ(timer.error(), std::errc::too_many_files_open);
}

// How many of the process's timers have expired and not told of it.
int expired_timers() {
  int expired = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) expired += line == "ticks: 1" ? 1 : 0;
  }
  return expired;
}

// Both expire in one turn of the reactor, so the second's expiry is on its way when the first's callback sets it anew.
TEST(Timer, AnExpiryOnItsWayDoesNotOutliveANewDeadline) {
  Reactor reactor = Reactor::create().value();
  int late = 0;
  auto second = Timer::create(reactor, [&] { ++late; }).value();
  const auto set_anew = [&] {
    second.set(Clock::now() + 1h);
    reactor.post([&] { reactor.stop(); });  // after what is on its way
  };
  auto first = Timer::create(reactor, set_anew).value();
  for (Timer* timer : {&first, &second}) timer->set(Clock::now());
  while (expired_timers() < 2) std::this_thread::yield();
  reactor.run();
  EXPECT_EQ(late, 0);
}

TEST(Timer, CallbackMayDestroyItsTimer) {
  RunningReactor reactor;
  Mailbox<int> fired;
  Mailbox<int> gone;
  const auto count = [&gone](int* number) {
    delete number;
    gone.put(1);
  };
  std::shared_ptr<int> shared(new int(7), count);
  std::unique_ptr<Timer> timer;
  auto end_itself = [&, shared = std::move(shared)] {
    timer.reset();
    fired.put(*shared);  // the captures live until the callback ends
  };
  timer = std::make_unique<Timer>(Timer::create(*reactor, std::move(end_itself)).value());
  timer->set(Clock::now() + 10ms);
  EXPECT_EQ(fired.take(), 7);
  EXPECT_TRUE(gone.take());
}

TEST(Timer, DestructorWaitsForARunningCallback) {
  Mailbox<int> started;
  std::atomic<bool> running = false;
  RunningReactor reactor;
  const auto take_long = [&, destroyer = ::gettid()] {
    running = true;
    started.put(1);
    sleeps_of(destroyer);
    running = false;
  };
  {
    auto timer = Timer::create(*reactor, take_long).value();
    timer.set(Clock::now());
    ASSERT_TRUE(started.take());
  }
  EXPECT_FALSE(running);
}

// The callback touches memory that dies right after the timer: a sanitizer sees any callback that comes late.
TEST(Timer, NeverCallsBackAfterDestruction) {
  RunningReactor reactor;
  int fired = 0;
  for (int i = 0; i < 500; ++i) {
    auto target = std::make_unique<int>(0);
    {
      auto timer = Timer::create(*reactor, [&target] { ++*target; }).value();
      timer.set(Clock::now() + std::chrono::microseconds(i));
      dawdle(i);
    }
    fired += *target;
    target.reset();
  }
  SUCCEED() << fired << " of 500 fired before destruction";
}

}  // namespace
}  // namespace weft::transport::test
