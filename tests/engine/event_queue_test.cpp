// SPDX-License-Identifier: Apache-2.0
#include "engine/event_queue.hpp"

#include <gtest/gtest.h>

namespace weft::engine {
namespace {

constexpr std::size_t kFromPeer = 64;  // as many may wait before receive() stops

TEST(EventQueue, IsFullOfWhatThePeerCauses) {
  EventQueue events(8);
  for (std::size_t i = 0; i < kFromPeer; ++i) {
    EXPECT_FALSE(events.full()) << i;
    events.push_received().length = static_cast<std::uint32_t>(i);
  }
  EXPECT_TRUE(events.full());
  EXPECT_EQ(std::get<Received>(*events.poll()).length, 0U) << "the oldest";
  EXPECT_FALSE(events.full());
}

// The user made room for them when it posted.
TEST(EventQueue, CompletionsDoNotCount) {
  EventQueue events(8);
  for (int i = 0; i < 8; ++i) events.push(SendCompleted{});
  for (std::size_t i = 1; i < kFromPeer; ++i) events.push(Received{});
  EXPECT_FALSE(events.full());
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(std::holds_alternative<SendCompleted>(*events.poll()));
  EXPECT_FALSE(events.full()) << "nor are they missed";
  events.push(Received{});
  EXPECT_TRUE(events.full());
}

TEST(EventQueue, ADrainedQueueIsToldOnceAtATime) {
  EventQueue events(8);
  for (int i = 0; i < 1000; ++i) events.push(SendQueueDrained{});
  EXPECT_TRUE(events.poll());
  EXPECT_FALSE(events.poll());
  events.push(SendQueueDrained{});
  EXPECT_TRUE(std::holds_alternative<SendQueueDrained>(*events.poll()));
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace weft::engine
