// SPDX-License-Identifier: Apache-2.0
// Requests that wait for their queue pairs to reach RTR: how many, and for how long.
#include <gmock/gmock.h>
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
using testing::ElementsAre;
using testing::IsEmpty;
using Clock = EarlyRequests::Clock;

constexpr Clock::time_point kBegin{1h};

using Senders = std::vector<std::uint32_t>;

Senders senders(const EarlyRequests::Requests& requests) {
  Senders all;
  for (const EarlyRequests::Request& one : requests) all.push_back(one.greeting.from.number);
  return all;
}

// The senders of those that had to go. The sender's number tells one from another.
Senders add(EarlyRequests& early, std::uint32_t to, std::uint32_t from = 0, Clock::time_point now = kBegin,
            std::string_view peer = "192.0.2.1") {
  Greeting greeting;
  greeting.from.address = verbs::Address::parse(peer).value();
  greeting.from.number = from;
  greeting.to.number = to;
  return senders(early.add(greeting, nullptr, now));
}

TEST(CompatDirectEarly, EightWaitForAQueuePairAndTheOldestGivesWay) {
  EarlyRequests early;
  for (std::uint32_t from = 0; from < 8; ++from) EXPECT_THAT(add(early, 1, from), IsEmpty()) << from;
  EXPECT_THAT(add(early, 1, 8), ElementsAre(0));
  EXPECT_THAT(add(early, 2, 20), IsEmpty());
  EXPECT_EQ(senders(early.take(1)), (Senders{8, 7, 6, 5, 4, 3, 2, 1})) << "the latest first";
  EXPECT_TRUE(early.take(1).empty());
  EXPECT_THAT(add(early, 1), IsEmpty());
  EXPECT_EQ(senders(early.take(2)), Senders{20});
}

TEST(CompatDirectEarly, TheAddressWithTheMostPlacesGivesWay) {
  EarlyRequests early;
  EXPECT_THAT(add(early, 1, 100, kBegin, "192.0.2.2"), IsEmpty());
  for (std::uint32_t from = 0; from < 7; ++from) EXPECT_THAT(add(early, 1, from), IsEmpty());
  EXPECT_THAT(add(early, 1, 7), ElementsAre(0)) << "and not the oldest, which another address sent";
  EXPECT_THAT(add(early, 1, 101, kBegin, "192.0.2.2"), ElementsAre(1));
  EXPECT_THAT(add(early, 1, 102, kBegin, "192.0.2.3"), ElementsAre(2));
  EXPECT_EQ(senders(early.take(1)), (Senders{102, 101, 7, 6, 5, 4, 3, 100}));
}

TEST(CompatDirectEarly, APeerLeavesAQuarterToOthers) {
  EarlyRequests early;
  for (std::uint32_t i = 0; i < 768; ++i) ASSERT_THAT(add(early, i / 8, i), IsEmpty());
  EXPECT_THAT(add(early, 500), ElementsAre(0)) << "of another queue pair";
  EXPECT_THAT(add(early, 500, 0, kBegin, "192.0.2.2"), IsEmpty());
}

TEST(CompatDirectEarly, AThousandAndTwentyFourWaitInTheProcess) {
  EarlyRequests early;
  const auto peer = [](std::uint32_t i) { return "192.0.2." + std::to_string(i / 700); };
  for (std::uint32_t i = 0; i < 1024; ++i) ASSERT_THAT(add(early, i / 8, i, kBegin, peer(i)), IsEmpty());
  EXPECT_THAT(add(early, 500, 0, kBegin, "192.0.2.9"), ElementsAre(0));
  EXPECT_THAT(add(early, 500, 0, kBegin, peer(1000)), ElementsAre(1)) << "of the address that has more";
  EXPECT_EQ(early.take(3).size(), 8U);
  for (std::uint32_t i = 0; i < 6; ++i) EXPECT_THAT(add(early, 500, 0, kBegin, "192.0.2.9"), IsEmpty());
}

TEST(CompatDirectEarly, TheProcessMayHaveFewerPlaces) {
  EarlyRequests early(4);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_THAT(add(early, i, i), IsEmpty());
  EXPECT_THAT(add(early, 3, 3), ElementsAre(0));
  EXPECT_THAT(add(early, 4, 4, kBegin, "192.0.2.2"), IsEmpty());
  EXPECT_THAT(add(early, 5, 5, kBegin, "192.0.2.3"), ElementsAre(1));
}

TEST(CompatDirectEarly, EachWaitsForTenSeconds) {
  EarlyRequests early;
  EXPECT_EQ(early.next(), Clock::time_point::max());
  EXPECT_THAT(add(early, 1, 10), IsEmpty());
  EXPECT_THAT(add(early, 2, 20, kBegin + 1s), IsEmpty());
  EXPECT_THAT(add(early, 1, 11, kBegin + 1s), IsEmpty());
  EXPECT_EQ(early.next(), kBegin + 10s);
  EXPECT_TRUE(early.take_late(kBegin + 10s - 1ns).empty());
  EXPECT_EQ(senders(early.take_late(kBegin + 10s)), std::vector<std::uint32_t>{10});
  EXPECT_EQ(early.next(), kBegin + 11s);
  EXPECT_EQ(senders(early.take_late(kBegin + 20s)), (std::vector<std::uint32_t>{20, 11}));
  EXPECT_EQ(early.next(), Clock::time_point::max());
}

}  // namespace
}  // namespace weft::compat::direct
