// SPDX-License-Identifier: Apache-2.0
// `weft bench` on a terminal: what it shows while it measures, and what is left of the measurement after ^C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.hpp"
#include "terminal.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;
using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* kWiped = "\r\033[K";

// `weft bench` with stderr on the terminal; setsid: a process group of its own, as a shell at a terminal makes it.
class Bench {
 public:
  explicit Bench(const Arguments& arguments) : command_(words(arguments), "setsid") {}

  Terminal& terminal() { return terminal_; }
  Ended wait() { return command_.wait(); }
  // What ^C does: all processes of the group get it.
  void interrupt_group() const { ::kill(-command_.pid(), SIGINT); }
  void signal(int number) const { command_.signal(number); }

  // The processes that descend from this one.
  [[nodiscard]] std::vector<pid_t> descendants() const {
    std::vector<pid_t> all{command_.pid()};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string id = std::to_string(all[i]);
      std::ifstream children("/proc/" + id + "/task/" + id + "/children");
      for (pid_t child = 0; children >> child;) all.push_back(child);
    }
    all.erase(all.begin());
    return all;
  }

 private:
  [[nodiscard]] Arguments words(const Arguments& arguments) const {
    Arguments all{"sh", "-c", R"(t=$1; shift; exec "$0" bench "$@" 2>"$t")", weft_command(), terminal_.path()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

  Terminal terminal_;
  Command command_;
};

// Gone, or dead and waiting for its parent to ask after it.
bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.empty() || text.find(") Z ") != std::string::npos;
}

void expect_ended(const std::vector<pid_t>& processes) {
  EXPECT_FALSE(processes.empty()) << "nothing was looked at";
  for (const pid_t process : processes) {
    for (int i = 0; i < 4000 && !has_ended(process); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(has_ended(process)) << process;
  }
}

TEST(BenchProgress, TellsTheRepetitionAndIsWiped) {
  Bench bench({"lat", "--iters", "20", "--repetitions", "3"});
  const Ended ended = bench.wait();
  EXPECT_EQ(ended.exit_code, 0) << bench.terminal().text();
  const std::string& shown = bench.terminal().text();
  for (const char* words : {"weft bench lat: repetition 1 of 3", "weft bench lat: repetition 3 of 3"}) {
    EXPECT_THAT(shown, HasSubstr(words));
  }
  EXPECT_TRUE(shown.ends_with(kWiped)) << shown;
}

TEST(BenchProgress, IsForTerminalsOnly) {
  const Ended ended = run({"bench", "lat", "--iters", "20", "--repetitions", "1"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
}

TEST(BenchProgress, TellsTheLineOfTheSuite) {
  Bench bench({"suite", "--only", "lat write 64, blocking", "--iters", "20", "--repetitions", "2"});
  EXPECT_EQ(bench.wait().exit_code, 0);
  const std::string& shown = bench.terminal().text();
  EXPECT_THAT(shown, HasSubstr("\rline 2 of 2, lat write 64, blocking channel: repetition 2 of 2"));
  EXPECT_TRUE(shown.ends_with(kWiped)) << shown;
}

TEST(BenchInterrupted, KeepsTheRepetitionsThatWereComplete) {
  Bench bench({"lat", "--iters", "2000", "--repetitions", "1000", "--json"});
  ASSERT_TRUE(bench.terminal().wait_for("repetition 4 of 1000")) << bench.terminal().text();
  const auto processes = bench.descendants();
  bench.interrupt_group();
  const Ended ended = bench.wait();
  EXPECT_EQ(ended.exit_code, 130) << bench.terminal().text();
  const json report = json::parse(ended.out);
  EXPECT_EQ(report.at("complete"), false);
  EXPECT_GE(report.at("repetitions"), 3);
  EXPECT_EQ(report.at("weft_runs").size(), report.at("repetitions"));
  EXPECT_EQ(report.at("tcp_runs").size(), report.at("repetitions")) << "as many of each";
  EXPECT_GT(report.at("weft"), 0);
  EXPECT_THAT(bench.terminal().text(),
              ContainsRegex("weft bench lat: interrupted after [0-9]+ of 1000 repetitions; the report covers those"));
  expect_ended(processes);
}

TEST(BenchInterrupted, AlsoByAnotherProcessAndAsText) {
  Bench bench({"bw", "--iters", "200", "--size", "4096", "--repetitions", "1000"});
  ASSERT_TRUE(bench.terminal().wait_for("repetition 3 of 1000")) << bench.terminal().text();
  const auto processes = bench.descendants();
  bench.signal(SIGTERM);
  const Ended ended = bench.wait();
  EXPECT_EQ(ended.exit_code, 130) << bench.terminal().text();
  EXPECT_THAT(ended.out, ContainsRegex("  weft .* repetitions of 200 messages"));
  EXPECT_THAT(ended.out, HasSubstr("weft/tcp"));
  expect_ended(processes);
}

// A repetition of a thousand seconds does not have to end first.
TEST(BenchInterrupted, InTheFirstRepetitionThereIsNoFigure) {
  Bench bench({"rate", "--iters", "10000000", "--repetitions", "1", "--connections", "1"});
  ASSERT_TRUE(bench.terminal().wait_for("finding out how many")) << bench.terminal().text();
  bench.interrupt_group();
  const Ended ended = bench.wait();
  EXPECT_EQ(ended.exit_code, 130) << bench.terminal().text();
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(bench.terminal().text(), HasSubstr("0 of 1 repetitions; there is no result."));
}

TEST(BenchInterrupted, TheSuiteKeepsTheLinesThatWereComplete) {
  const TemporaryDirectory folder;
  Bench bench({"suite", "--only", "lat write 64, blocking", "--iters", "300", "--repetitions", "100", "--output",
               folder.file("a.json")});
  ASSERT_TRUE(bench.terminal().wait_for("line 2 of 2, lat write 64, blocking channel: repetition 2 of 100"))
      << bench.terminal().text();
  const auto processes = bench.descendants();
  EXPECT_GE(processes.size(), 2U) << "the one that measures, and its peer";
  bench.interrupt_group();
  const Ended ended = bench.wait();
  EXPECT_EQ(ended.exit_code, 130) << bench.terminal().text();
  EXPECT_THAT(ended.out, HasSubstr("lat write 64, blocking wait"));
  EXPECT_THAT(bench.terminal().text(),
              HasSubstr("weft bench suite: interrupted: 1 of 2 lines were complete; from 'lat write 64, blocking "
                        "channel' on they are missing."));
  std::ifstream file(folder.file("a.json"));
  const json whole = json::parse(file);
  EXPECT_EQ(whole.at("cases").size(), 1U);
  EXPECT_EQ(whole.at("complete"), false);
  EXPECT_EQ(whole.at("missing"), json({"lat write 64, blocking channel"}));
  expect_ended(processes);
}

}  // namespace
}  // namespace weft::test
