// SPDX-License-Identifier: Apache-2.0
// The parts of the tools that need no process: rping's message and text, statistics, test patterns.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/audit/report.hpp"
#include "tools/bench/report.hpp"
#include "tools/bench/schedule.hpp"
#include "tools/bench/statistics.hpp"
#include "tools/cli/nearest.hpp"
#include "tools/cli/pattern.hpp"
#include "tools/cli/wrap.hpp"
#include "tools/link/advertisement.hpp"
#include "tools/rping/ping_text.hpp"

namespace weft::tools {
namespace {

TEST(AuditReport, AConnectionThatWasDroppedIsNotCheckedToItsEnd) {
  audit::Report report;
  report.file = "many.pcap";
  conformance::ConnectionReport dropped;
  dropped.info.number = 7;
  dropped.evicted = true;
  report.take(std::move(dropped), 10);
  EXPECT_EQ(report.damage, "many.pcap: connection 7 was not checked to its end: too many connections at a time");
}

TEST(Nearest, CountsSlips) {
  EXPECT_EQ(slips_between("audit", "audit"), 0U);
  EXPECT_EQ(slips_between("adit", "audit"), 1U);
  EXPECT_EQ(slips_between("auddit", "audit"), 1U);
  EXPECT_EQ(slips_between("ausit", "audit"), 1U);
  EXPECT_EQ(slips_between("auidt", "audit"), 1U) << "two letters swapped are one slip";
  EXPECT_EQ(slips_between("", "audit"), 5U);
  EXPECT_EQ(slips_between("audit", ""), 5U);
  EXPECT_EQ(slips_between("kitten", "sitting"), 3U);
}

TEST(Nearest, IsNearOrNone) {
  EXPECT_EQ(nearest("bnech", {"demo", "bench"}), "bench");
  EXPECT_EQ(nearest("dis", {"demo", "dissect"}), "dissect");
  EXPECT_EQ(nearest("--pcapfile", {"--log", "--pcap"}), "--pcap");
  EXPECT_EQ(nearest("dance", {"demo", "bench"}), std::nullopt);
  EXPECT_EQ(nearest("-x", {"-s", "-c"}), std::nullopt);
  EXPECT_EQ(nearest("--", {"--log"}), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

// What a stock client sent to siw: pcap-samples/01-rping.pcap, the payload of its first Send.
TEST(Advertisement, HasTheLayoutOfTheStockTool) {
  const Advertisement seen{.address = 0x0000559b7bc28370, .rkey = 0x357f0000, .size = 64};
  const std::array<std::uint8_t, 16> wire{0x00, 0x00, 0x55, 0x9b, 0x7b, 0xc2, 0x83, 0x70,
                                          0x35, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40};
  const auto octets = seen.serialize();
  EXPECT_TRUE(std::ranges::equal(octets, std::as_bytes(std::span(wire))));
  EXPECT_EQ(Advertisement::parse(octets), seen);
}

TEST(Advertisement, OtherLengthsAreRefused) {
  const std::vector<std::byte> octets(17);
  EXPECT_FALSE(Advertisement::parse(octets));
  EXPECT_FALSE(Advertisement::parse(Bytes(octets).first(15)));
  EXPECT_FALSE(Advertisement::parse({}));
}

std::string ping_text(std::size_t size, std::uint32_t number) {
  std::string text(size, '?');
  rping::fill_ping_text(text, number);
  return text;
}

// The lines that `rping -v -C 2` of rdma-core prints.
TEST(PingText, IsTheStockTools) {
  EXPECT_EQ(rping::text_in(ping_text(64, 0)), "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
  EXPECT_EQ(rping::text_in(ping_text(64, 1)), "rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs");
}

TEST(PingText, WrapsAfterSmallZ) {
  const std::string text = ping_text(100, 0);
  EXPECT_EQ(text.substr(13, 60), "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzAB");
  EXPECT_EQ(ping_text(100, 57)[13 + 1], 'z');  // the 58th ping begins with 'z' less the longer number
  EXPECT_EQ(ping_text(100, 58).substr(14, 2), "AB");
}

TEST(PingText, EndsInNulAtEverySize) {
  for (std::size_t size = rping::kMinSize; size < 200; ++size) {
    const std::string text = ping_text(size, 2147483647);
    EXPECT_EQ(text.back(), '\0');
    EXPECT_EQ(rping::text_in(text).size(), size - 1);
  }
}

// A peer's octets reach the terminal as what they are: neither a command to it nor a line of their own.
TEST(PingText, IsShownWithoutWhatCannotBePrinted) {
  EXPECT_EQ(rping::shown_text(std::string_view("a\\b \x1b]0;title\x07\nserver ping data: \xff")),
            "a\\b \\x1b]0;title\\x07\\x0aserver ping data: \\xff");
  EXPECT_EQ(rping::shown_text(ping_text(64, 0)), rping::text_in(ping_text(64, 0)));
}

TEST(PingText, WithoutNulIsAllOfIt) { EXPECT_EQ(rping::text_in(std::string_view("abc")).size(), 3U); }

TEST(Pattern, TellsWhereItDiffers) {
  std::vector<std::byte> octets(70'000);
  fill_pattern(octets, 5);
  EXPECT_FALSE(first_difference(octets, 5));
  octets[69'999] ^= std::byte{1};
  EXPECT_EQ(first_difference(octets, 5), 69'999U);
  EXPECT_EQ(first_difference(octets, 6), 0U);
}

TEST(Pattern, ShiftedBlocksAreSeen) {
  std::vector<std::byte> octets(4096);
  fill_pattern(octets, 0);
  for (const std::size_t shift : {1U, 64U, 256U, 512U, 1024U}) {
    EXPECT_TRUE(first_difference(Bytes(octets).subspan(shift), 0)) << shift;
  }
}

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_EQ(bench::median({3, 1, 2}), 2);
  EXPECT_EQ(bench::median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(bench::quantile({10, 20, 30, 40, 50}, 0.25), 20);
  EXPECT_EQ(bench::quantile({10, 20}, 1), 20);
  EXPECT_EQ(bench::quantile({}, 0.5), 0);
  EXPECT_EQ(bench::quantile({7}, 0.99), 7);
}

TEST(Statistics, OneOutlierDoesNotMoveTheMedian) { EXPECT_EQ(bench::median({5, 5, 5, 5, 5000}), 5); }

TEST(Statistics, SpreadIsHalfTheQuartileDistance) {
  EXPECT_DOUBLE_EQ(bench::relative_spread({10, 20, 30, 40, 50}), 10.0 / 30.0);
  EXPECT_EQ(bench::relative_spread({}), 0);
}

TEST(Schedule, ScalesToTheTargetWithinBounds) {
  EXPECT_EQ(bench::scaled(100, 0.1, 1.0), 1000U);
  EXPECT_EQ(bench::scaled(100, 1000, 0.001), 1U);
  EXPECT_EQ(bench::scaled(1'000'000, 0, 3600), 10'000'000U);
}

TEST(Schedule, FiguresOfTheThreeKinds) {
  bench::Options options{.kind = bench::Kind::kBandwidth, .size = 1000};
  EXPECT_DOUBLE_EQ(bench::figure(options, 2000, {.seconds = 2}), 1.0);  // 2 million octets in 2 s
  options.kind = bench::Kind::kRate;
  EXPECT_DOUBLE_EQ(bench::figure(options, 2000, {.seconds = 2}), 1000);
  options.kind = bench::Kind::kLatency;
  EXPECT_DOUBLE_EQ(bench::figure(options, 3, {.seconds = 1, .latency_us = {3, 9, 4}}), 4);
}

TEST(Schedule, ListsAreNeverLongerThanTheDepth) {
  for (std::uint32_t depth = 1; depth < 100; ++depth) {
    const bench::Options options{.kind = bench::Kind::kRate, .depth = depth};
    EXPECT_LE(bench::list_length(options), depth);
    EXPECT_GE(bench::list_length(options), 1U);
  }
}

TEST(Schedule, CompletionsAreReportedAtLeastOnceADepth) {
  using bench::Kind;
  using bench::Pattern;
  EXPECT_EQ(bench::signal_interval({.kind = Kind::kBandwidth, .depth = 16}), 4U);
  EXPECT_EQ(bench::signal_interval({.kind = Kind::kBandwidth, .depth = 16, .posting = {.signal_every = 100}}), 16U);
  EXPECT_EQ(bench::signal_interval({.kind = Kind::kRate, .depth = 64}), 32U);
  EXPECT_EQ(bench::signal_interval({.kind = Kind::kBandwidth, .pattern = Pattern::kPerftest}), 100U);
  EXPECT_EQ(bench::signal_interval({.kind = Kind::kBandwidth, .depth = 10, .pattern = Pattern::kPerftest}), 10U);
  EXPECT_EQ(bench::signal_interval({.kind = Kind::kLatency, .pattern = Pattern::kPerftest}), 1U);
}

TEST(Report, NamesTheLimitOfFpdusThatWasAskedFor) {
  const bench::Report report{.options = {.segments = {.mtu = 1440}}, .weft = {.figures = {1}}, .tcp = {.figures = {1}}};
  EXPECT_EQ(nlohmann::json::parse(bench::as_json(report)).at("mtu"), 1440);
}

TEST(Report, HasNoRatioWithoutRawTcp) {
  const bench::Report report{.options = {.pattern = bench::Pattern::kPerftest}, .weft = {.figures = {1}}};
  const auto parsed = nlohmann::json::parse(bench::as_json(report));
  EXPECT_EQ(parsed.at("weft"), 1);
  EXPECT_TRUE(parsed.at("tcp").is_null() && parsed.at("ratio").is_null());
  EXPECT_EQ(parsed.at("pattern"), "perftest");
}

TEST(Schedule, DealsMessagesOutEvenlyAndFillsEachDepthOnce) {
  const bench::Options options{.kind = bench::Kind::kBandwidth, .depth = 16, .connections = 7};
  EXPECT_EQ(bench::dealt(options, 1), 7U);
  EXPECT_EQ(bench::dealt(options, 14), 14U);
  EXPECT_EQ(bench::dealt(options, 15), 21U);
  EXPECT_EQ(bench::least(options), 112U);
  EXPECT_EQ(bench::least({.kind = bench::Kind::kBandwidth}), 1U);
}

TEST(Report, RatioIsWeftByTcpOfTheMedians) {
  const bench::Report report{
      .options = {.kind = bench::Kind::kRate}, .weft = {.figures = {50, 60, 1}}, .tcp = {.figures = {100, 90, 100}}};
  const auto parsed = nlohmann::json::parse(bench::as_json(report));
  EXPECT_EQ(parsed["weft"], 50);
  EXPECT_EQ(parsed["tcp"], 100);
  EXPECT_EQ(parsed["ratio"], 0.5);
  EXPECT_EQ(parsed["better"], "higher");
  EXPECT_TRUE(parsed["mtu"].is_null()) << "no limit was asked for, and 0 would be one";
  EXPECT_EQ(parsed["noisy"], true);  // 50, 60 and 1 lie far apart
  EXPECT_NE(bench::as_text(report).find("0.50"), std::string::npos);
}

TEST(Wrap, BreaksAtBlanksAndHangs) {
  EXPECT_EQ(wrap("one two three\n", 80), "one two three\n");
  EXPECT_EQ(wrap("one two three", 8), "one two\nthree\n");
  EXPECT_EQ(wrap("  one two three", 10, 4), "  one two\n      three\n");
  EXPECT_EQ(wrap("averylongword x", 8), "averylongword\nx\n") << "words stay whole";
  EXPECT_EQ(wrap("a\n\nb\n", 8), "a\n\nb\n");
}

TEST(Wrap, KeepsASecondColumnOrMovesItToItsOwnLine) {
  EXPECT_EQ(wrap("  --size N  octets of a message", 24), "  --size N  octets of a\n            message\n");
  EXPECT_EQ(wrap("  --signal-every N  octets of a message", 24),
            "  --signal-every N\n      octets of a\n      message\n");
}

TEST(Wrap, CountsColumnsAsTheyAreSeen) {
  EXPECT_EQ(wrap("\x1b[1;31mred\x1b[0m two three", 7), "\x1b[1;31mred\x1b[0m two\nthree\n");
  EXPECT_EQ(wrap("\xc3\xa4\xc3\xa4\xc3\xa4 two three", 7), "\xc3\xa4\xc3\xa4\xc3\xa4 two\nthree\n");
}

}  // namespace
}  // namespace weft::tools
