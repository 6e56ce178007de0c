// SPDX-License-Identifier: Apache-2.0
// The measure of rest sees what it is there for (rest.hpp).
#include "tests/transport/rest.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "transport/readiness_set.hpp"
#include "transport/timer.hpp"

namespace weft::transport::test {
namespace {

struct Rest : testing::Test {
  void SetUp() override {
    if (!rest_can_be_seen()) GTEST_SKIP() << kRestIsHidden;
  }
};

TEST_F(Rest, EndsWithATimeLimit) {
  std::mutex mutex;
  std::condition_variable end;
  bool over = false;
  std::jthread sleeper([&] {
    std::unique_lock lock(mutex);
    end.wait(lock, [&] { return over; });  // without a limit
    over = false;
    end.notify_all();
    end.wait_for(lock, 1h, [&] { return over; });
  });
  expect_rest();
  std::unique_lock lock(mutex);
  over = true;
  end.notify_all();
  end.wait(lock, [&] { return !over; });
  EXPECT_FALSE(is_at_rest()) << "it sleeps for an hour, or is about to";
  over = true;
  end.notify_all();
}

TEST_F(Rest, EndsWithASocketThatStaysReady) {
  auto set = ReadinessSet::create().value();
  const int ready = ::eventfd(1, EFD_CLOEXEC);
  expect_rest();
  ASSERT_FALSE(set.watch(ready, 1));
  EXPECT_FALSE(is_at_rest());
  ::close(ready);
}

TEST_F(Rest, EndsWithABeat) {
  RunningReactor reactor;
  Timer* again = nullptr;
  Timer beat = Timer::create(*reactor, [&] { again->set(std::chrono::steady_clock::now() + 100ms); }).value();
  again = &beat;
  beat.set(std::chrono::steady_clock::now() + 1h);
  expect_rest();
  beat.set(std::chrono::steady_clock::now());
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(is_at_rest());
}

}  // namespace
}  // namespace weft::transport::test
