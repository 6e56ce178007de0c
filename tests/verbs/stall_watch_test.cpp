// SPDX-License-Identifier: Apache-2.0
// When a stall is told, in the test's own time.
#include "verbs/stream/stall_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "verbs/base/device_state.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using enum StreamWait;

struct StallWatchTest : testing::Test {
  bool look(StreamWait wait, std::uint64_t moved = 0) { return watch.look(wait, moved, now); }
  StallWatch watch{10s};
  Instant now{5s};
};

TEST_F(StallWatchTest, IsToldOnceWhenItHasLasted) {
  EXPECT_FALSE(look(kReceive));
  EXPECT_EQ(watch.deadline(), now + 10s);
  now = now + 9999ms;
  EXPECT_FALSE(look(kReceive));
  now = now + 1ms;
  EXPECT_TRUE(look(kReceive));
  watch.has_told();
  EXPECT_FALSE(watch.deadline());
  now = now + 1h;
  EXPECT_FALSE(look(kReceive));
}

TEST_F(StallWatchTest, IsOverWhenTheStreamGoesOn) {
  EXPECT_FALSE(look(kNothing));
  EXPECT_FALSE(watch.deadline());
  EXPECT_FALSE(look(kPeerWindow));
  now = now + 9s;
  EXPECT_FALSE(look(kNothing));
  EXPECT_FALSE(watch.deadline());
  EXPECT_FALSE(look(kPeerWindow));
  EXPECT_EQ(watch.deadline(), now + 10s);
  EXPECT_FALSE(look(kReceive)) << "another one";
  EXPECT_EQ(watch.deadline(), now + 10s);
}

// A slow peer is no stall.
TEST_F(StallWatchTest, IsOverWithEachOctetThatMoves) {
  EXPECT_FALSE(look(kAnswers, 100));
  for (std::uint64_t octets = 101; octets < 110; ++octets) {
    now = now + 9s;
    EXPECT_FALSE(look(kAnswers, octets));
  }
  now = now + 10s;
  EXPECT_TRUE(look(kAnswers, 109));
}

TEST_F(StallWatchTest, ASecondOneIsToldToo) {
  EXPECT_FALSE(look(kReceive));
  now = now + 10s;
  EXPECT_TRUE(look(kReceive));
  watch.has_told();
  watch.begin_anew();  // a receive was posted, and the next Send found none
  EXPECT_FALSE(look(kReceive));
  now = now + 10s;
  EXPECT_TRUE(look(kReceive));
}

TEST_F(StallWatchTest, WaitsForRoom) {
  EXPECT_FALSE(look(kReceive));
  now = now + 10s;
  EXPECT_TRUE(look(kReceive));
  watch.later(now);
  EXPECT_FALSE(look(kReceive));
  now = now + 10s;
  EXPECT_TRUE(look(kReceive));
}

// Stalls of many peers take no place from what else is told.
TEST(StallEvents, AreFewOfADevice) {
  const auto device = DeviceState::create({}).value();
  const Instant start{5s};
  const auto told = [&](Instant at) {
    int count = 0;
    for (int i = 0; i < 2000; ++i) count += device->raise_stall({.type = AsyncEventType::kStreamStalled}, at) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(told(start), 100);
  EXPECT_EQ(told(start + 50ms), 5);
  device->raise({.type = AsyncEventType::kQueuePairFatal});
  for (int i = 0; i < 105; ++i) EXPECT_EQ(device->events->get()->type, AsyncEventType::kStreamStalled);
  EXPECT_EQ(device->events->get()->type, AsyncEventType::kQueuePairFatal);
}

}  // namespace
}  // namespace weft::verbs::detail
