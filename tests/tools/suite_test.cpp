// SPDX-License-Identifier: Apache-2.0
// The suite's table, verdicts and JSON, and its plot; then the command itself, with counts so small that time says
// nothing.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.hpp"
#include "common/crc32c_routine.hpp"
#include "tools/bench/plot.hpp"
#include "tools/bench/policy.hpp"
#include "tools/bench/report_channel.hpp"
#include "tools/bench/suite.hpp"
#include "tools/bench/sweep.hpp"

namespace weft::test {
namespace {

using namespace tools::bench;
using nlohmann::json;

SuiteResult result(Kind kind, double weft, double tcp, double target) {
  const Options options{.kind = kind};
  return {.what = {.name = "case", .options = options, .target = target},
          .report = Report{.options = options, .weft = {.figures = {weft}}, .tcp = {.figures = {tcp}}}};
}

TEST(Suite, HasEachTargetOnce) {
  const auto cases = suite_cases({.against = {.ucx = true}});
  std::set<std::string> names;
  for (const SuiteCase& each : cases) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  for (const char* name :
       {"lat send 64", "lat write 64, blocking wait", "lat send 64, blocking channel", "lat read 64, idle target",
        "bw read 1Mi", "bw write 1Mi, CRC off", "bw send 1Mi, EMSS 1448", "bw send 1Mi, markers", "rate write 64",
        "bw send 16384, 256 connections", "lat send 64, same host", "bw write 1Mi, CRC off, same host"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  for (const SuiteCase& each : cases) {
    EXPECT_EQ(each.reference == Reference::kUcx, each.options.kind == Kind::kRate);
    EXPECT_EQ(each.options.against.ucx, (each.options.crc || is_same_host(each.options)) && !each.options.markers &&
                                            each.options.segments.emss == 0 && each.options.connections == 1 &&
                                            !sleeps(each.options) && !each.name.contains("cubic"))
        << each.name;
  }
}

TEST(Suite, TargetsAreUpperBoundsOfLatencyAndLowerBoundsOfTheRest) {
  EXPECT_EQ(met(result(Kind::kLatency, 1.1, 1, 1.1)), true);
  EXPECT_EQ(met(result(Kind::kLatency, 1.2, 1, 1.1)), false);
  EXPECT_EQ(met(result(Kind::kBandwidth, 85, 100, 0.85)), true);
  EXPECT_EQ(met(result(Kind::kBandwidth, 84, 100, 0.85)), false);
}

TEST(Suite, TheBetterOfARivalsTestsCounts) {
  SuiteResult rate = result(Kind::kRate, 30, 0, 10);
  rate.what.reference = Reference::kUcx;
  EXPECT_FALSE(met(rate)) << "nobody to compare with";
  EXPECT_NE(suite_line(rate).find("--against ucx"), std::string::npos);
  rate.report->rivals = {{.name = "ucx a", .series = {.figures = {2}}},
                         {.name = "ucx b", .series = {.figures = {3}}},
                         {.name = "ucx c", .series = {.figures = {9}}, .reason = "it died"},
                         {.name = "other", .series = {.figures = {30}}}};
  EXPECT_DOUBLE_EQ(*ratio(rate), 10);
  EXPECT_EQ(met(rate), true);
}

TEST(Suite, TlsIsHeldAgainstOpenSsl) {
  for (const SuiteCase& each : tls_cases({})) {
    const bool whole = each.options.policy.files.ends_with(",tls-resumption=off");
    EXPECT_EQ(each.reference, each.name == "setup, resumed" ? Reference::kOpenSslResumed : Reference::kOpenSsl)
        << each.name;
    EXPECT_EQ(whole, each.name == "setup, whole") << each.name;
    EXPECT_TRUE(each.options.against.tcp && each.options.against.plain && each.options.against.openssl) << each.name;
  }
}

// Whole handshakes beside whole ones, and resumed ones beside resumed ones.
TEST(Suite, SetUpsAreHeldAgainstTheirLike) {
  for (const auto& [reference, expected] : {std::pair{Reference::kOpenSsl, 0.9}, {Reference::kOpenSslResumed, 0.45}}) {
    SuiteResult setup = result(Kind::kSetup, 900, 20000, 0.85);
    setup.what.reference = reference;
    EXPECT_TRUE(suite_line(setup).find("--against openssl ") != std::string::npos ||
                suite_line(setup).ends_with("--against openssl"))
        << suite_line(setup);
    setup.report->weft.latency_us = setup.report->tcp.latency_us = {1, 2, 3};
    setup.report->rivals = {{.name = "weft without TLS", .series = {.figures = {4000}}},
                            {.name = "openssl", .series = {.figures = {1000}}},
                            {.name = "openssl, resumed", .series = {.figures = {2000}}}};
    EXPECT_DOUBLE_EQ(*ratio(setup), expected);
    EXPECT_EQ(met(setup), expected >= 0.85) << "set-ups per second: more is better";
    EXPECT_TRUE(suite_line(setup).ends_with("; without TLS 4000.00")) << suite_line(setup);
  }
}

TEST(Suite, TellsWhatAMedianHides) {
  SuiteResult latency = result(Kind::kLatency, 5, 4, 1.1);
  EXPECT_EQ(suite_line(latency).find("p99"), std::string::npos) << "nothing is known of it";
  for (int i = 1; i <= 101; ++i) {
    latency.report->weft.latency_us.push_back(i);
    latency.report->tcp.latency_us.push_back(i * 0.5);
  }
  EXPECT_TRUE(suite_line(latency).ends_with("no; p99 100.00, 50.00 us")) << suite_line(latency);
  const json whole = json::parse(suite_json({latency}));
  EXPECT_EQ(whole.at("cases").at(0).at("weft").at("p99"), 100);
  EXPECT_EQ(whole.at("cases").at(0).at("tcp").at("p99"), 50);
}

TEST(Suite, HasAColumnForEachStackThatIsAskedFor) {
  const std::vector<RivalStack> stacks{{"ucx", {}}, {"libfabric", "fi_pingpong is not installed (Debian: ...)"}};
  const std::string heading = suite_heading(stacks);
  SuiteResult latency = result(Kind::kLatency, 5, 4, 1.1);
  latency.report->rivals = {{.name = "ucx tag_lat", .series = {.figures = {7}}},
                            {.name = "ucx ucp_am_lat", .series = {.figures = {6.5}}}};
  const std::string line = suite_line(latency, stacks);
  const std::size_t ucx = heading.find("ucx") + 3;
  const std::size_t libfabric = heading.find("libfabric") + 9;
  EXPECT_EQ(line.substr(ucx - 5, 5), " 6.50") << line;
  EXPECT_EQ(line.substr(libfabric - 14, 14), " not installed") << line;
  latency.report->rivals = {{.name = "ucx", .reason = "no such pattern"}};
  EXPECT_EQ(suite_line(latency, stacks).substr(ucx - 2, 2), " -");
  SuiteResult rate = result(Kind::kRate, 30, 0, 10);
  rate.what.reference = Reference::kUcx;
  EXPECT_TRUE(suite_line(rate, {{"ucx", "missing"}}).ends_with("ucx is not installed"));
  const json whole = json::parse(suite_json({latency}, {.stacks = stacks}));
  EXPECT_EQ(whole.at("rivals").at(0), json({{"name", "ucx"}, {"installed", true}}));
  EXPECT_EQ(whole.at("rivals").at(1).at("installed"), false);
  EXPECT_EQ(whole.at("rivals").at(1).at("reason"), stacks[1].missing);
}

// Two seconds of two processors, of which this process used one and the others one and a half.
TEST(BusyMachine, IsWhereOtherProcessesOrTheHypervisorWorked) {
  const auto before = read_stat("cpu  1000 0 500 9000 10 20 30 100 0 0\n", 100);
  const auto after = read_stat("cpu  1150 10 580 9100 10 25 35 120 0 0\n", 100);
  ASSERT_TRUE(before && after);
  EXPECT_NEAR(after->worked - before->worked, 2.5, 1e-9);
  EXPECT_NEAR(after->stolen - before->stolen, 0.2, 1e-9);
  ProcessorTime begin = *before, end = *after;
  begin.at = 10, end.at = 12;
  begin.own = 3, end.own = 4;
  const Busy busy = busy_between(begin, end);
  EXPECT_NEAR(busy.others, 0.75, 1e-9);
  EXPECT_NEAR(busy.stolen, 0.1, 1e-9);
  EXPECT_TRUE(busy.disturbing());
  const std::string text = busy_text(busy, 2, 1.5);
  for (const char* figure : {"0.75 of 2", "0.10", "1.50"}) EXPECT_NE(text.find(figure), std::string::npos) << text;
  const json machine = json::parse(suite_json({}, {.load = 1.5, .busy = busy})).at("machine");
  EXPECT_EQ(machine.at("busy"), true);
  EXPECT_NEAR(machine.at("other_processes").get<double>(), 0.75, 1e-6);
  EXPECT_NEAR(machine.at("steal").get<double>(), 0.1, 1e-6);
  EXPECT_EQ(machine.at("load"), 1.5);
}

TEST(BusyMachine, IsNotOneThatWorkedForTheMeasurementAlone) {
  const ProcessorTime begin{.worked = 100, .own = 5, .at = 0};
  const Busy busy = busy_between(begin, {.worked = 102.05, .own = 7, .at = 1});
  EXPECT_FALSE(busy.disturbing()) << "0.05 processors";
  EXPECT_EQ(busy_text(busy, 2, 9), "");
  EXPECT_EQ(busy_between(begin, {.worked = 101, .own = 7, .at = 1}).others, 0) << "the clocks differ a little";
  EXPECT_FALSE(read_stat("intr 1 2 3 4 5 6 7 8", 100));
  EXPECT_FALSE(read_stat("", 100));
}

TEST(Suite, JsonHasMachineFiguresAndVerdict) {
  SuiteResult good = result(Kind::kBandwidth, 0, 100, 0.85);
  good.report->weft.figures = {80, 90, 100, 110, 120};
  SuiteResult failed{.what = {.name = "other", .target = 2}, .error = "said \"no\""};
  const json whole = json::parse(suite_json({good, failed}));
  EXPECT_FALSE(whole.at("machine").at("kernel").get<std::string>().empty());
  EXPECT_EQ(whole.at("crc32c").get<std::string>(), weft::name(crc32c_in_use().routine));
  EXPECT_EQ(whole.at("date").get<std::string>().size(), 20U);
  const json& first = whole.at("cases").at(0);
  EXPECT_EQ(first.at("weft").at("median"), 100);
  EXPECT_EQ(first.at("weft").at("quartile_1"), 90);
  EXPECT_EQ(first.at("weft").at("quartile_3"), 110);
  EXPECT_EQ(first.at("weft").at("repetitions"), 5);
  EXPECT_EQ(first.at("ratio"), 1);
  EXPECT_EQ(first.at("met"), true);
  EXPECT_EQ(whole.at("cases").at(1).at("error"), "said \"no\"");
  EXPECT_EQ(whole.at("complete"), true);
  EXPECT_EQ(json::parse(suite_json({good}, {.missing = {"a", "b"}})).at("missing"), json({"a", "b"}));
  EXPECT_TRUE(whole.at("cases").at(1).at("ratio").is_null());
}

TEST(ReportChannel, CarriesAll) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  Report report{.pinned = true,
                .tcp_sleeps = true,
                .weft = {.figures = {1, 2}, .latency_us = {5, 6, 7}, .messages = 7},
                .tcp = {.figures = {3}}};
  report.rivals = {{.name = "a", .series = {.figures = {4}}}, {.name = "b", .reason = "missing"}};
  ASSERT_TRUE(tell_report(pair[0], report));
  const auto heard = hear_report(pair[1], {.size = 99});
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->options.size, 99U);
  EXPECT_TRUE(heard->pinned && heard->tcp_sleeps);
  EXPECT_EQ(heard->weft.figures, report.weft.figures);
  EXPECT_EQ(heard->weft.latency_us, report.weft.latency_us);
  EXPECT_EQ(heard->weft.messages, 7U);
  EXPECT_EQ(heard->tcp.figures, report.tcp.figures);
  ASSERT_EQ(heard->rivals.size(), 2U);
  EXPECT_EQ(heard->rivals[0].series.figures, (std::vector<double>{4}));
  EXPECT_EQ(heard->rivals[1].reason, "missing");
  ::close(pair[0]);
  EXPECT_FALSE(hear_report(pair[1], {}));
  ::close(pair[1]);
}

TEST(Sweep, CurvesAreOfThoseWhoTookPart) {
  std::vector<Curve> curves;
  for (const std::uint32_t size : {2U, 8U}) {
    add_points(curves, {.options = {.size = size},
                        .weft = {.figures = {5}},
                        .rivals = {{.name = "r", .series = {.figures = {6}}}, {.name = "s", .reason = "missing"}}});
  }
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].points, (std::vector<std::pair<double, double>>{{2, 5}, {8, 5}}));
  EXPECT_EQ(curves[1].name, "r");
}

// Each tag is closed where it must be; enough XML for what as_svg writes.
bool well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos || std::ranges::count(tag, '"') % 2 != 0) return false;
    if (tag.starts_with('?') || tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

std::vector<std::pair<double, double>> circles(const std::string& svg) {
  std::vector<std::pair<double, double>> all;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) {
    double x = 0, y = 0;
    EXPECT_EQ(std::sscanf(svg.c_str() + at, "<circle cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
    all.emplace_back(x, y);
  }
  return all;
}

TEST(Plot, PointsLieWhereTheyShould) {
  const Panel panel{"Latency <of> a & b", "us", {{"weft", {{2, 1}, {64, 10}, {2048, 100}}}, {"nobody", {}}}};
  const std::string svg = as_svg({panel, panel});
  EXPECT_TRUE(well_formed(svg)) << svg;
  EXPECT_EQ(svg.find("nobody"), std::string::npos);
  const auto points = circles(svg);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_NEAR(points[1].first, (points[0].first + points[2].first) / 2, 0.11) << "logarithmic: 64 is half-way";
  EXPECT_NEAR(points[1].second, (points[0].second + points[2].second) / 2, 0.11);
  EXPECT_LT(points[0].first, points[2].first);
  EXPECT_GT(points[0].second, points[2].second) << "up is more";
  EXPECT_NEAR(points[3].first - points[0].first, 560, 0.11) << "the second panel is beside the first";
}

TEST(Plot, EvenOfNothingOrOnePointIsADrawing) {
  EXPECT_TRUE(well_formed(as_svg({})));
  const std::string noted = as_svg({{"t", "u", {}, {"ucx: not installed"}}});
  EXPECT_TRUE(well_formed(noted));
  EXPECT_NE(noted.find(">ucx: not installed<"), std::string::npos) << noted;
  const std::string svg = as_svg({{"t", "u", {{"c", {{64, 5}}}}}, {"empty", "u", {}}});
  EXPECT_TRUE(well_formed(svg));
  for (const auto& [x, y] : circles(svg)) EXPECT_TRUE(std::isfinite(x) && std::isfinite(y));
}

TEST(SuiteCommand, TakesAPolicy) {
  const TemporaryDirectory folder;
  const Ended ended = Command({"bench", "suite", "--only", "lat send 64", "--iters", "20", "--repetitions", "1",
                               "--output", folder.file("a.json"), "--policy", "tls=require"})
                          .wait(std::chrono::seconds(250));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  std::ifstream figures(folder.file("a.json"));
  const json whole = json::parse(figures);
  ASSERT_EQ(whole.at("cases").size(), 3U);
  for (const json& each : whole.at("cases")) {
    EXPECT_EQ(each.at("policy"), "tls=require");
    EXPECT_GT(each.at("weft").at("median"), 0) << each;
  }
}

TEST(SuiteCommand, TellsWhatTlsCosts) {
  const TemporaryDirectory folder;
  const Ended ended =
      Command({"bench", "suite", "--tls", "--iters", "16", "--repetitions", "1", "--output", folder.file("a.json")})
          .wait(std::chrono::seconds(250));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("; without TLS "), std::string::npos) << ended.out;
  std::ifstream figures(folder.file("a.json"));
  const json whole = json::parse(figures);
  ASSERT_EQ(whole.at("cases").size(), 5U);
  for (const json& each : whole.at("cases")) {
    EXPECT_EQ(each.at("reference"), each.at("name") == "setup, resumed" ? "openssl, resumed" : "openssl");
    EXPECT_GT(each.at("ratio"), 0) << each;
    EXPECT_TRUE(each.contains("met"));
  }
}

TEST(SuiteCommand, WritesTableJsonAndPlot) {
  const TemporaryDirectory folder;
  Command command({"bench", "suite", "--only", "64", "--iters", "20", "--repetitions", "1", "--output",
                   folder.file("a.json"), "--plot", folder.file("a.svg")});
  const Ended ended = command.wait(std::chrono::seconds(250));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("lat send 64, blocking wait"), std::string::npos) << ended.out;
  std::ifstream figures(folder.file("a.json"));
  const json whole = json::parse(figures);
  EXPECT_EQ(whole.at("cases").size(), 14U);
  for (const json& each : whole.at("cases")) EXPECT_GT(each.at("weft").at("median"), 0) << each;
  std::ifstream plot(folder.file("a.svg"));
  const std::string svg{std::istreambuf_iterator<char>(plot), {}};
  EXPECT_TRUE(well_formed(svg));
  EXPECT_EQ(circles(svg).size(), 2 * 2 * 11U) << "weft and raw TCP at each size, in both panels";
}

}  // namespace
}  // namespace weft::test
