// SPDX-License-Identifier: Apache-2.0
// Requests that wait for their queue pairs to reach RTR: how many, and for how long.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compat/direct/early_requests.hpp"

namespace weft::compat::direct {
namespace {

using namespace std::chrono_literals;
using Clock = EarlyRequests::Clock;

constexpr Clock::time_point kBegin{1h};

// The sender's number tells one from another.
bool add(EarlyRequests& early, std::uint32_t to, std::uint32_t from = 0, Clock::time_point now = kBegin,
         std::string_view peer = "192.0.2.1") {
  Greeting greeting;
  greeting.from.address = verbs::Address::parse(peer).value();
  greeting.from.number = from;
  greeting.to.number = to;
  std::unique_ptr<verbs::ConnectionId> id;
  return early.add(greeting, id, now);
}

std::vector<std::uint32_t> senders(const EarlyRequests::Requests& requests) {
  std::vector<std::uint32_t> all;
  for (const EarlyRequests::Request& one : requests) all.push_back(one.greeting.from.number);
  return all;
}

TEST(CompatDirectEarly, EightWaitForAQueuePair) {
  EarlyRequests early;
  for (std::uint32_t from = 0; from < 8; ++from) EXPECT_TRUE(add(early, 1, from)) << from;
  EXPECT_FALSE(add(early, 1));
  EXPECT_TRUE(add(early, 2, 20));
  EXPECT_EQ(senders(early.take(1)), (std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0})) << "the latest first";
  EXPECT_TRUE(early.take(1).empty());
  EXPECT_TRUE(add(early, 1));
  EXPECT_EQ(senders(early.take(2)), std::vector<std::uint32_t>{20});
}

TEST(CompatDirectEarly, APeerLeavesAQuarterToOthers) {
  EarlyRequests early;
  for (std::uint32_t i = 0; i < 768; ++i) ASSERT_TRUE(add(early, i / 8)) << i;
  EXPECT_FALSE(add(early, 500));
  EXPECT_TRUE(add(early, 500, 0, kBegin, "192.0.2.2"));
  EXPECT_EQ(early.take(3).size(), 8U);
  for (std::uint32_t i = 0; i < 7; ++i) EXPECT_TRUE(add(early, 500)) << i;
  EXPECT_TRUE(add(early, 501));
  EXPECT_FALSE(add(early, 501));
}

TEST(CompatDirectEarly, AThousandAndTwentyFourWaitInTheProcess) {
  EarlyRequests early;
  const auto peer = [](std::uint32_t i) { return "192.0.2." + std::to_string(i / 512); };
  for (std::uint32_t i = 0; i < 1024; ++i) ASSERT_TRUE(add(early, i / 8, 0, kBegin, peer(i))) << i;
  EXPECT_FALSE(add(early, 500, 0, kBegin, "192.0.2.9"));
  EXPECT_EQ(early.take(3).size(), 8U);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_TRUE(add(early, 500, 0, kBegin, "192.0.2.9")) << i;
  EXPECT_FALSE(add(early, 501, 0, kBegin, "192.0.2.9"));
}

// One that is not taken in stays with its caller, whose end rejects it.
TEST(CompatDirectEarly, OneBeyondTheBoundIsLeftToTheCaller) {
  auto channel = verbs::EventChannel::create();
  ASSERT_TRUE(channel);
  EarlyRequests early;
  for (int i = 0; i < 9; ++i) {
    auto id = std::make_unique<verbs::ConnectionId>(verbs::ConnectionId::create(*channel).value());
    EXPECT_EQ(early.add({}, id, kBegin), i < 8);
    EXPECT_EQ(id == nullptr, i < 8);
  }
  for (const EarlyRequests::Request& one : early.take(0)) EXPECT_NE(one.id, nullptr);
}

TEST(CompatDirectEarly, EachWaitsForTenSeconds) {
  EarlyRequests early;
  EXPECT_EQ(early.next(), Clock::time_point::max());
  ASSERT_TRUE(add(early, 1, 10));
  ASSERT_TRUE(add(early, 2, 20, kBegin + 1s));
  ASSERT_TRUE(add(early, 1, 11, kBegin + 1s));
  EXPECT_EQ(early.next(), kBegin + 10s);
  EXPECT_TRUE(early.take_late(kBegin + 10s - 1ns).empty());
  EXPECT_EQ(senders(early.take_late(kBegin + 10s)), std::vector<std::uint32_t>{10});
  EXPECT_EQ(early.next(), kBegin + 11s);
  EXPECT_EQ(senders(early.take_late(kBegin + 20s)), (std::vector<std::uint32_t>{20, 11}));
  EXPECT_EQ(early.next(), Clock::time_point::max());
}

}  // namespace
}  // namespace weft::compat::direct
