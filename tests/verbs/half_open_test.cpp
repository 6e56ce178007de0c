// SPDX-License-Identifier: Apache-2.0
// Which connection goes when a listener has many that have not asked. Time is the test's.
#include "verbs/connecting/half_open.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <vector>

#include "verbs/endpoint.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;

const transport::Address kMallory = transport::Address::parse("192.0.2.66").value();

struct HalfOpenTest : testing::Test {
  std::uint64_t last = 0;
  Instant now{};

  // The numbers of those that go for a newcomer.
  std::vector<std::uint64_t> enter(HalfOpen& at, const transport::Address& peer = kMallory) {
    std::vector<std::uint64_t> out;
    for (const auto& entry : at.enter({.number = ++last, .peer = peer, .since = now})) out.push_back(entry.number);
    return out;
  }
  static transport::Address address(const char* text) { return transport::Address::parse(text).value(); }
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(HalfOpenTest, TheOldestGoesWhenAllPlacesAreTaken) {
  HalfOpen at({.places = 3, .in_process = 100, .patience = 10s});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(enter(at), Numbers{});
  EXPECT_EQ(enter(at), Numbers{1});
  EXPECT_TRUE(at.leave(2));  // it has asked
  EXPECT_FALSE(at.leave(2));
  EXPECT_EQ(enter(at), Numbers{});
  EXPECT_EQ(enter(at), Numbers{3});
  EXPECT_EQ(at.size(), 3U);
  EXPECT_EQ(at.take_oldest()->number, 4U);
}

TEST_F(HalfOpenTest, AFloodOfOneAddressDrivesOutItself) {
  HalfOpen at({.places = 8, .in_process = 100, .patience = 10s});
  EXPECT_EQ(enter(at, address("198.51.100.1")), Numbers{});
  for (int i = 0; i < 7; ++i) EXPECT_EQ(enter(at), Numbers{});
  for (std::uint64_t i = 2; i < 50; ++i) EXPECT_EQ(enter(at), Numbers{i});
  EXPECT_EQ(enter(at, address("198.51.100.2")), Numbers{1}) << "the oldest of all, for one that has no place yet";
  EXPECT_TRUE(at.leave(57)) << "and it stays";
}

TEST_F(HalfOpenTest, APeersBound) {
  HalfOpen at({.places = 100, .per_peer = 2, .in_process = 100, .patience = 10s});
  enter(at);
  EXPECT_EQ(enter(at, address("198.51.100.1")), Numbers{});
  EXPECT_EQ(enter(at), Numbers{});
  EXPECT_EQ(enter(at), Numbers{1});
  EXPECT_EQ(enter(at, address("198.51.100.1")), Numbers{});
}

// A peer with one address of a prefix has 2^64; but neighbours on a link are many.
TEST_F(HalfOpenTest, APrefixIsOnePeer) {
  HalfOpen at({.places = 100, .per_peer = 1, .in_process = 100, .patience = 10s});
  EXPECT_EQ(enter(at, address("2001:db8::1")), Numbers{});
  EXPECT_EQ(enter(at, address("2001:db8:0:1::1")), Numbers{});
  EXPECT_EQ(enter(at, address("2001:db8::2")), Numbers{1});
  EXPECT_EQ(enter(at, address("fe80::1%lo")), Numbers{});
  EXPECT_EQ(enter(at, address("fe80::2%lo")), Numbers{});
}

TEST_F(HalfOpenTest, ThePatienceShrinksAsThePlacesFillUp) {
  HalfOpen at({.places = 100, .in_process = 1000, .patience = 15s});
  for (int i = 0; i < 25; ++i) enter(at);
  EXPECT_EQ(at.patience(), 15s);
  for (int i = 0; i < 25; ++i) enter(at);
  EXPECT_EQ(at.patience(), 10s);
  now = now + 10s;
  EXPECT_EQ(enter(at), Numbers{}) << "not longer than that";
  now = now + 1ns;
  for (const auto number : enter(at)) EXPECT_LE(number, 27U);
  EXPECT_GE(at.size(), 25U) << "until there are enough places again";
  for (int i = 0; i < 100; ++i) enter(at);
  EXPECT_EQ(at.size(), 100U);
  EXPECT_EQ(at.patience(), 750ms) << "a twentieth at least";
}

// So that the program keeps descriptors for itself.
TEST_F(HalfOpenTest, ListenersShareTheProcesssDescriptors) {
  HalfOpen one({.places = 100, .in_process = 4, .patience = 10s}),
      two({.places = 100, .in_process = 4, .patience = 10s});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(enter(one), Numbers{});
  EXPECT_EQ(enter(two), Numbers{});
  EXPECT_EQ(enter(two), Numbers{4}) << "its own oldest";
  EXPECT_EQ(enter(one), Numbers{1});
  const HalfOpen third({.places = 1, .in_process = 4, .patience = 10s});
  EXPECT_EQ(one.size() + two.size(), 4U);
}

// Requests that the application has not taken have descriptors, too.
TEST_F(HalfOpenTest, RequestsCountAmongTheProcesssDescriptors) {
  HalfOpen at({.places = 10, .in_process = 4, .patience = 10s});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(at.ask());
  EXPECT_EQ(enter(at), Numbers{});
  EXPECT_EQ(enter(at), Numbers{1});
  EXPECT_TRUE(at.ask());
  EXPECT_FALSE(at.ask()) << "as many as there may be";
  for (int i = 0; i < 5; ++i) HalfOpen::leave_request();
  EXPECT_EQ(enter(at), Numbers{});
}

TEST_F(HalfOpenTest, Limits) {
  rlimit descriptors{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  const rlimit plenty{std::min<rlim_t>(descriptors.rlim_max, 16000), descriptors.rlim_max};
  const std::size_t half = plenty.rlim_cur / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &plenty), 0);
  EXPECT_EQ(HalfOpen::limits_of(1, 0, 10s, false).places, std::min<std::size_t>(1024, half));
  EXPECT_EQ(HalfOpen::limits_of(1000, 0, 10s, false).places, std::min<std::size_t>(4000, half));
  EXPECT_EQ(HalfOpen::limits_of(1 << 30, 7, 10s, false).places, std::min<std::size_t>(8192, half));
  EXPECT_EQ(HalfOpen::limits_of(1 << 30, 7, 10s, false).per_peer, 7U);
  const rlimit few{256, descriptors.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(HalfOpen::limits_of(1000, 0, 10s, false).places, 128U);
  EXPECT_EQ(HalfOpen::limits_of(1000, 0, 10s, false).in_process, 128U);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &descriptors), 0);
}

// --- Octets: a peer that speaks TLS holds more

TEST_F(HalfOpenTest, WithTlsPlacesAreFewer) {
  rlimit descriptors{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  const rlimit plenty{std::min<rlim_t>(descriptors.rlim_max, 20000), descriptors.rlim_max};
  constexpr std::size_t kWithTls = HalfOpen::kMostOctets / HalfOpen::kOctetsTls;
  static_assert(kWithTls >= 4 * 128, "four for each request of the usual backlog");
  ASSERT_GE(plenty.rlim_cur / 2, kWithTls) << "the octets are to be the bound, not the descriptors";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &plenty), 0);
  EXPECT_GT(HalfOpen::limits_of(4096, 0, 10s, false).places, kWithTls);
  EXPECT_EQ(HalfOpen::limits_of(4096, 0, 10s, true).places, kWithTls);
  EXPECT_EQ(HalfOpen::limits_of(128, 0, 10s, true).places, kWithTls);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &descriptors), 0);
}

TEST_F(HalfOpenTest, AllListenersShareTheOctets) {
  const HalfOpen::Limits limits{
      .places = 100, .in_process = 1000, .patience = 10s, .octets = HalfOpen::kMostOctets / 4};
  static_cast<void>(HalfOpen::have_left_memory());
  {
    HalfOpen one(limits), other(limits);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(enter(one), Numbers{});
    EXPECT_EQ(enter(other), Numbers{});
    EXPECT_EQ(enter(other), Numbers{4}) << "its own oldest goes";
    EXPECT_EQ(enter(one), Numbers{1});
    EXPECT_FALSE(HalfOpen::have_left_memory()) << "they are here";
  }
  EXPECT_TRUE(HalfOpen::have_left_memory());
  EXPECT_FALSE(HalfOpen::have_left_memory()) << "once";
}

}  // namespace
}  // namespace weft::verbs::detail
