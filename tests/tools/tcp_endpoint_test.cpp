// SPDX-License-Identifier: Apache-2.0
// The raw TCP side of the benchmarks, against itself in two threads: every pattern ends, with the right number of
// samples, and wrong data is seen.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <thread>

#include "tools/bench/tcp_endpoint.hpp"

namespace weft::tools::bench {
namespace {

struct Pair {
  explicit Pair(const Options& options) {
    auto listener = tcp_listen_on_loopback();
    auto ours = tcp_connect_to_loopback(listener->port);
    auto theirs = tcp_accept(*listener);
    leader = std::make_unique<TcpEndpoint>(std::move(*ours), options);
    follower = std::make_unique<TcpEndpoint>(std::move(*theirs), options);
  }
  std::unique_ptr<TcpEndpoint> leader, follower;
};

class EveryPattern : public testing::TestWithParam<std::tuple<Kind, Op, std::uint32_t>> {};

TEST_P(EveryPattern, EndsAndCountsItsMessages) {
  const auto [kind, op, size] = GetParam();
  const Options options{.kind = kind, .op = op, .size = size};
  constexpr std::uint64_t kMessages = 300;
  Pair pair(options);
  std::jthread follower([&] {
    EXPECT_TRUE(pair.follower->follow_check(3));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(pair.follower->follow(kMessages));
    EXPECT_TRUE(pair.follower->follow_check(4));
  });
  ASSERT_TRUE(pair.leader->lead_check(3));
  for (int i = 0; i < 2; ++i) {
    const auto result = pair.leader->lead(kMessages);
    ASSERT_TRUE(result) << result.error().sentence;
    EXPECT_GT(result->seconds, 0);
    EXPECT_EQ(result->latency_us.size(), kind == Kind::kLatency ? kMessages : 0);
  }
  ASSERT_TRUE(pair.leader->lead_check(4));
}

INSTANTIATE_TEST_SUITE_P(KindsOpsSizes, EveryPattern,
                         testing::Combine(testing::Values(Kind::kLatency, Kind::kBandwidth, Kind::kRate),
                                          testing::Values(Op::kSend, Op::kWrite, Op::kRead),
                                          testing::Values(1U, 29U, 100'000U)));

// What getsockopt says of a connected socket counts no time stamps.
TEST(TcpSocket, SegmentsCanBeLimited) {
  auto listener = tcp_listen_on_loopback(1448);
  auto ours = tcp_connect_to_loopback(listener->port, 1448);
  auto theirs = tcp_accept(*listener);
  for (const UniqueFd* fd : {&*ours, &*theirs}) {
    int mss = 0;
    socklen_t length = sizeof mss;
    ASSERT_EQ(::getsockopt(fd->get(), IPPROTO_TCP, TCP_MAXSEG, &mss, &length), 0);
    EXPECT_EQ(mss, 1448);
  }
}

TEST(TcpEndpoint, WrongDataIsSeen) {
  Pair pair({.size = 64});
  std::jthread leader([&] { EXPECT_TRUE(pair.leader->lead_check(1)); });
  const auto outcome = pair.follower->follow_check(2);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().sentence, "raw TCP: wrong data at octet 0.");
}

TEST(TcpEndpoint, APeerThatLeavesIsAnErrorNotAHang) {
  Pair pair({.size = 64});
  pair.follower.reset();
  EXPECT_FALSE(pair.leader->lead(10));
}

}  // namespace
}  // namespace weft::tools::bench
