// SPDX-License-Identifier: Apache-2.0
// What other stacks' tools printed, read back; and which of their tests has our pattern.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "tools/bench/allocations.hpp"
#include "tools/bench/contestants.hpp"
#include "tools/bench/count.hpp"
#include "tools/bench/rival.hpp"
#include "tools/bench/rival_run.hpp"

namespace weft::tools::bench {
namespace {

// ucx_perftest 1.13.1 -v, its log at level info.
constexpr const char* kUcx =
    "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n"
    "[1795350917.587774] [vm:27177:0]     ucp_context.c:1849 UCX  INFO  Version 1.13.1 (loaded from /lib/libucp.so.0)\n"
    "[1795350917.599597] [vm:27177:0]      ucp_worker.c:1763 UCX  INFO    ep_cfg[0]: tag(tcp/lo) \n"
    "1000,11.184,86.733,86.733,0.70,10.50,11530,11530\n";

TEST(Ucx, LatencyIsTheMedian) {
  const auto read = read_ucx({.kind = Kind::kLatency}, kUcx, 1000);
  ASSERT_TRUE(read) << read.error().sentence;
  EXPECT_DOUBLE_EQ(read->figure, 11.184);
  EXPECT_NEAR(read->seconds, 0.173466, 1e-9) << "half round trips";
}

TEST(Ucx, BandwidthIsInMillionsOfOctetsAndRateInMessages) {
  EXPECT_NEAR(read_ucx({.kind = Kind::kBandwidth}, kUcx, 1000)->figure, 11.010048, 1e-9) << "its MB are 2^20";
  EXPECT_DOUBLE_EQ(read_ucx({.kind = Kind::kRate}, kUcx, 1000)->figure, 11530);
}

TEST(Ucx, AnotherTransportIsNoRival) {
  std::string shared = kUcx;
  shared.replace(shared.find("tcp/lo"), 6, "sysv/memory");
  EXPECT_FALSE(read_ucx({.kind = Kind::kLatency}, shared, 1000));
}

TEST(Ucx, WithoutFiguresThereIsNone) {
  EXPECT_FALSE(read_ucx({}, "", 10));
  EXPECT_FALSE(read_ucx({}, "UCX  ERROR command line: missing test name (tcp/lo)\n1,2,3\n", 10));
}

// fi_pingpong 1.17.0.
constexpr const char* kLibfabric =
    "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
    "64      1k      =1k      125k        0.13s      1.01      63.31       0.02\n";

TEST(Libfabric, LatencyIsTheTimeOfATransfer) {
  const auto read = read_libfabric(kLibfabric, 1000);
  ASSERT_TRUE(read) << read.error().sentence;
  EXPECT_DOUBLE_EQ(read->figure, 63.31);
  EXPECT_NEAR(read->seconds, 0.12662, 1e-9);
  EXPECT_FALSE(read_libfabric("bytes   #sent\n", 1));
  EXPECT_FALSE(read_libfabric("", 1));
}

TEST(Rivals, TakePartOnlyWhereTheyHaveThePattern) {
  EXPECT_EQ(plan_ucx({.kind = Kind::kRate}).tests.size(), 2U) << "tag and am: the better one counts";
  EXPECT_EQ(plan_ucx({.kind = Kind::kRate, .op = Op::kWrite}).tests.back().name, "ucx ucp_am_bw");
  EXPECT_TRUE(plan_ucx({.kind = Kind::kRate, .op = Op::kRead}).tests.empty());
  const RivalPlan rate = plan_libfabric({.kind = Kind::kRate});
  EXPECT_TRUE(rate.tests.empty());
  EXPECT_NE(rate.reason.find("fi_pingpong"), std::string::npos);
  EXPECT_EQ(plan_libfabric({.kind = Kind::kLatency}).tests.size(), 1U);
  EXPECT_TRUE(plan_rivals({}).empty());
  EXPECT_EQ(plan_rivals({.against = {.ucx = true, .libfabric = true}}).size(), 2U);
}

std::vector<Transport> transports(const Options& options) {
  std::vector<Transport> all;
  for (const Contestant& each : contestants(options)) all.push_back(each.transport);
  return all;
}

TEST(Contestants, TakePartWhereTheyAreAskedForAndHaveThePattern) {
  using enum Transport;
  const Against all{.tcp = true, .plain = true, .openssl = true};
  EXPECT_EQ(transports({.kind = Kind::kLatency}), (std::vector{kWeft, kTcp}));
  EXPECT_EQ(transports({.kind = Kind::kLatency, .against = all}), (std::vector{kWeft, kTcp, kPlain, kOpenSsl}));
  EXPECT_EQ(transports({.kind = Kind::kBandwidth, .against = all}),
            (std::vector{kWeft, kTcp, kTcp, kPlain, kOpenSsl, kOpenSsl}))
      << "polling and sleeping";
  EXPECT_EQ(transports({.kind = Kind::kSetup, .against = all}),
            (std::vector{kWeft, kTcp, kPlain, kOpenSsl, kOpenSslResumed}));
  EXPECT_EQ(transports({.kind = Kind::kSetup, .caller = Caller::kFresh, .against = all}),
            (std::vector{kWeft, kTcp, kPlain, kOpenSsl}))
      << "a new process resumes nothing";
}

TEST(Contestants, TheBetterWayToWaitCounts) {
  const Options options{.kind = Kind::kBandwidth, .against = {.tcp = true, .openssl = true}};
  auto all = contestants(options);
  ASSERT_EQ(all.size(), 5U);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].series.figures = {static_cast<double>(10 - i)};
  all[2].series.figures = {20};
  const Report report = report_of(options, all);
  EXPECT_EQ(report.weft.figures, (std::vector<double>{10}));
  EXPECT_EQ(report.tcp.figures, (std::vector<double>{20}));
  EXPECT_TRUE(report.tcp_sleeps);
  ASSERT_EQ(report.rivals.size(), 1U);
  EXPECT_EQ(report.rivals[0].name, "openssl");
  EXPECT_EQ(report.rivals[0].series.figures, (std::vector<double>{7}));
}

TEST(Rivals, AreToldWhatToMeasure) {
  const auto words = plan_ucx({.kind = Kind::kRate, .size = 64}).tests.front().client(4711, 900);
  const auto has = [&](const char* option, const char* value) {
    const auto at = std::ranges::find(words, option);
    return at != words.end() && at + 1 != words.end() && *(at + 1) == value;
  };
  EXPECT_TRUE(has("-p", "4711") && has("-s", "64") && has("-n", "900") && has("-t", "tag_bw"));
}

TEST(Rivals, ThatAreNotInstalledAreNamedWithTheirPackage) {
  EXPECT_EQ(why_missing({.program = "sh"}), "");
  EXPECT_NE(why_missing({.program = "fi_pingpong-of-nobody"}).find("apt-get install"), std::string::npos);
}

// A stand-in for a tool: nothing here depends on what is installed.
RivalTest stand_in(const std::string& server, const std::string& client) {
  return {.name = "stand-in",
          .program = "sh",
          .server = [server](std::uint16_t, std::uint64_t) { return std::vector<std::string>{"-c", server}; },
          .client = [client](std::uint16_t, std::uint64_t) { return std::vector<std::string>{"-c", client}; },
          .read = &read_libfabric};
}

TEST(Rivals, WhoseServerLeavesAtOnceFail) {
  const Placement leader(Seat::kLeader), follower(Seat::kFollower);
  const auto run = run_rival(stand_in("echo no such provider; exit 3", "true"), 1, {leader, follower}, Waiting::kSleep);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().sentence.find("no such provider"), std::string::npos) << run.error().sentence;
}

// strace 6.1 -c.
TEST(Strace, TableIsRead) {
  const CallCounts counts = read_strace(
      "% time     seconds  usecs/call     calls    errors syscall\n"
      "------ ----------- ----------- --------- --------- ----------------\n"
      " 95.00    0.010000          10      1000       400 recvfrom\n"
      "  5.00    0.000500           1       500           sendmsg\n"
      "------ ----------- ----------- --------- --------- ----------------\n"
      "100.00    0.010500           7      1500       400 total\n");
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts.at("recvfrom").calls, 1000U);
  EXPECT_EQ(counts.at("recvfrom").errors, 400U);
  EXPECT_EQ(counts.at("sendmsg").calls, 500U);
  EXPECT_EQ(counts.at("sendmsg").errors, 0U);
}

TEST(Strace, WhatBothRunsHaveInCommonDoesNotCount) {
  const std::string text =
      counts_text({{"mmap", {50, 0}}, {"sendmsg", {100, 0}}}, {{"mmap", {50, 0}}, {"sendmsg", {300, 20}}}, 100);
  EXPECT_EQ(text.find("mmap"), std::string::npos) << text;
  EXPECT_NE(text.find("2.00, of which in vain 0.20"), std::string::npos) << text;
}

TEST(Allocations, WhatBothRunsHaveInCommonDoesNotCount) {
  EXPECT_NE(allocations_text(700, 700, 100).find(": 0.000\n"), std::string::npos);
  EXPECT_NE(allocations_text(700, 850, 100).find(": 1.500\n"), std::string::npos);
  EXPECT_NE(allocations_text(702, 700, 100).find(": 0.000\n"), std::string::npos) << "one fewer at the start";
}

// Of every form and of every thread, from the moment on at which they are asked for.
TEST(Allocations, AreCounted) {
  if (!allocations_can_be_counted()) GTEST_SKIP() << "a build with sanitizers";
  struct alignas(64) Wide {
    std::byte octets[64];
  };
  const auto take_three = [] {
    const auto one = std::make_unique<int>(1);
    const auto many = std::make_unique<std::byte[]>(7);
    const auto wide = std::make_unique<Wide>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % alignof(Wide), 0U);
  };
  count_allocations();
  const std::uint64_t before = allocations();
  take_three();
  EXPECT_EQ(allocations() - before, 3U);
  std::thread(take_three).join();
  EXPECT_GE(allocations() - before, 6U) << "and what the thread itself takes";
}

}  // namespace
}  // namespace weft::tools::bench
