// SPDX-License-Identifier: Apache-2.0
// Which connections a listener lets in (SEC-6.4.1-03): the bounds, in the test's own time. admission_live_test.cpp has
// what its peers see.
#include "verbs/connecting/admission.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "verbs/endpoint.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using Refusal = Admission::Refusal;
using Seats = std::vector<Admission::Seat>;

transport::Address address(const char* text) { return transport::Address::parse(text).value(); }

struct AdmissionTest : testing::Test {
  static std::shared_ptr<Admission> make(Admission::Limits limits) {
    return std::make_shared<Admission>(std::move(limits));
  }
  // How many of these were let in.
  int come(Admission& at, const transport::Address& peer, int times) const {
    int in = 0;
    for (int i = 0; i < times; ++i) in += at.refuses(peer, now) ? 0 : 1;
    return in;
  }
  Instant now{5s};
  const transport::Address one = address("192.0.2.1"), other = address("192.0.2.2");
};

TEST_F(AdmissionTest, WithoutLimitsAllComeIn) {
  const auto at = make({});
  Seats seats;
  EXPECT_EQ(come(*at, one, 1000), 1000);
  EXPECT_FALSE(at->refuses(std::nullopt, now)) << "gone already";
  for (int i = 0; i < 1000; ++i) seats.push_back(Admission::take_seat(at, one).value());
  EXPECT_EQ(at->counts().seats, 1000U);
  EXPECT_FALSE(at->line(now));
}

TEST_F(AdmissionTest, ByAddress) {
  const auto at = make({.access = {.deny = parse_prefixes("192.0.2.1").value()}});
  EXPECT_EQ(at->refuses(one, now), Refusal::kDenied);
  EXPECT_EQ(at->refuses(std::nullopt, now), Refusal::kDenied) << "it cannot be told who it was";
  EXPECT_FALSE(at->refuses(other, now));
  EXPECT_EQ(at->counts().refused[0], 2U);
}

TEST_F(AdmissionTest, AsFastAsTheRateAllows) {
  const auto at = make({.rate_per_peer = 10});
  EXPECT_EQ(come(*at, one, 50), 10) << "a burst";
  EXPECT_EQ(at->refuses(one, now), Refusal::kTooFast);
  EXPECT_EQ(come(*at, other, 50), 10) << "another peer has its own";
  now = now + 99ms;
  EXPECT_EQ(come(*at, one, 50), 0);
  now = now + 1ms;
  EXPECT_EQ(come(*at, one, 50), 1);
  now = now + 500ms;
  EXPECT_EQ(come(*at, one, 50), 5);
  now = now + 1h;
  EXPECT_EQ(come(*at, one, 50), 10) << "and no more than a burst";
}

// The prefix that a subscriber has: addresses without end.
TEST_F(AdmissionTest, APrefixOfIpv6IsOnePeer) {
  const auto at = make({.rate_per_peer = 2, .per_peer = 1});
  EXPECT_EQ(come(*at, address("2001:db8::1"), 1) + come(*at, address("2001:db8::2"), 5), 2);
  const auto seat = Admission::take_seat(at, address("2001:db8:0:1::1"));
  EXPECT_TRUE(seat);
  EXPECT_FALSE(Admission::take_seat(at, address("2001:db8:0:1::2")));
  EXPECT_TRUE(Admission::take_seat(at, address("2001:db8:0:2::1")));
}

TEST_F(AdmissionTest, SoManyOfAPeer) {
  const auto at = make({.per_peer = 2});
  Seats seats;
  EXPECT_EQ(come(*at, one, 5), 5) << "those that have not asked are not counted";
  seats.push_back(Admission::take_seat(at, one).value());
  seats.push_back(Admission::take_seat(at, one).value());
  EXPECT_EQ(at->refuses(one, now), Refusal::kTooMany);
  EXPECT_FALSE(Admission::take_seat(at, one)) << "it came in when there were fewer";
  EXPECT_EQ(at->counts().refused[2], 2U);
  EXPECT_FALSE(at->refuses(other, now));
  seats.push_back(Admission::take_seat(at, other).value());
  seats.erase(seats.begin());
  EXPECT_FALSE(at->refuses(one, now));
  EXPECT_TRUE(Admission::take_seat(at, one));
  EXPECT_EQ(at->counts().seats, 2U) << "and that one has left again";
}

TEST_F(AdmissionTest, SoManyOfAListenerAndOfTheProcess) {
  const auto here = make({.per_listener = 1}), there = make({.per_process = 2});
  auto first = Admission::take_seat(here, one);
  EXPECT_EQ(here->refuses(other, now), Refusal::kTooMany);
  auto second = Admission::take_seat(there, one);
  EXPECT_TRUE(second) << "another listener";
  EXPECT_EQ(there->refuses(other, now), Refusal::kTooMany) << "with that of the first one";
  first.reset();
  EXPECT_FALSE(there->refuses(other, now));
  EXPECT_FALSE(here->refuses(other, now));
}

TEST_F(AdmissionTest, ASeatIsGivenUpOnce) {
  const auto at = make({.per_peer = 2});
  auto first = Admission::take_seat(at, one).value();
  auto second = std::move(first);
  first.leave();
  EXPECT_EQ(at->counts().seats, 1U);
  first = Admission::take_seat(at, one).value();
  second = std::move(first);  // and its own is free
  EXPECT_EQ(at->counts().seats, 1U);
  second.leave();
  second.leave();
  EXPECT_EQ(at->counts().seats, 0U);
}

// A peer costs memory only while it is here, or came within a second: a flood of addresses does not stay.
TEST_F(AdmissionTest, PeersAreForgotten) {
  const auto at = make({.rate_per_peer = 1});
  std::optional<Admission::Seat> seat = Admission::take_seat(at, one);
  for (int i = 0; i < 100'000; ++i) {
    auto peer = address("10.0.0.0");
    peer.octets[1] = static_cast<std::byte>(i >> 16);
    peer.octets[2] = static_cast<std::byte>(i >> 8);
    peer.octets[3] = static_cast<std::byte>(i);
    EXPECT_FALSE(at->refuses(peer, now));
    now = now + 1ms;
    ASSERT_LE(at->peers(), 2100U);
  }
  seat.reset();
  const auto without_rate = make({.per_peer = 1});
  seat = Admission::take_seat(without_rate, one);
  EXPECT_EQ(without_rate->peers(), 1U);
  seat.reset();
  EXPECT_EQ(without_rate->peers(), 0U);
}

TEST_F(AdmissionTest, OneLineInTenSecondsTellsAll) {
  const auto at = make({.access = {.deny = parse_prefixes("192.0.2.1").value()}, .rate_per_peer = 1});
  EXPECT_EQ(come(*at, one, 1), 0);
  EXPECT_EQ(at->line(now),
            "connections refused: 1 by their address, 0 that came too fast, 0 beyond the number of connections; the "
            "last one of 192.0.2.1");
  EXPECT_EQ(come(*at, one, 3) + come(*at, other, 3), 1);
  now = now + 9999ms;
  EXPECT_FALSE(at->line(now));
  now = now + 1ms;
  EXPECT_EQ(at->line(now),
            "connections refused: 3 by their address, 2 that came too fast, 0 beyond the number of connections; the "
            "last one of 192.0.2.2");
  now = now + 1h;
  EXPECT_FALSE(at->line(now)) << "nothing new";
}

}  // namespace
}  // namespace weft::verbs::detail
