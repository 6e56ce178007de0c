// SPDX-License-Identifier: Apache-2.0
// The run of the cases: each once, and once more where the time that it took for silence turns out too short.
#include "probe/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "connected.hpp"

namespace weft::probe::test {
namespace {

// A peer that starts up and says what the test has it say.
class Scripted final : public Way {
 public:
  [[nodiscard]] std::string_view profile() const override { return "raw"; }
  [[nodiscard]] std::uint32_t offers() const override { return offered; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 3; }
  std::unique_ptr<Conversation> dial(const SocketWish&) override { not_applicable("the test has no start-up"); }
  Advert open(const Opening&, std::unique_ptr<Conversation>& by) override {
    Connected pair(case_patience);
    const std::scoped_lock lock(mutex_);
    if (on_open) on_open(pair);
    by = std::move(pair.conversation);
    by->start_fpdus(mpa::Framing{}, mpa::Framing{});
    by->send_ulpdu(by->make().write({}, {}, {}));
    peers_.push_back(std::move(pair.peer));
    return advert;
  }
  void expect_alive(Conversation&) override {}

  Duration case_patience = std::chrono::seconds(1);
  std::uint32_t offered = kListens | kStream | kReceives;
  Advert advert{};

  std::function<void(Connected&)> on_open{};

 private:
  std::mutex mutex_{};
  std::vector<std::unique_ptr<Socket>> peers_{};  // under mutex_; open as long as the way
};

Report run_of(Way& way, const std::string& only, const std::function<void(const CaseResult&)>& see = {}) {
  RunOptions options{.filter = {.only = {only}}};
  if (see) options.on_result = [&](const CaseResult& one, std::size_t, std::size_t) { see(one); };
  return run(way, options);
}

TEST(Runner, RunsEachCaseOnce) {
  Scripted way;
  std::map<std::string_view, int> seen;
  const Report report = run_of(way, "enhanced-", [&](const CaseResult& one) { ++seen[one.what->name]; });
  EXPECT_GT(report.cases.size(), 10U);
  EXPECT_EQ(seen.size(), report.cases.size());
  for (const auto& [name, times] : seen) EXPECT_EQ(times, 1) << name;
}

// The first time nothing comes within what was taken for silence. A later connection shows that the peer is slower than that.
TEST(Runner, JudgesAgainWhatItHasJudgedTooEarly) {
  Scripted way;
  way.quiet = std::chrono::milliseconds(1);
  int opened = 0;
  way.on_open = [&](Connected& pair) {
    if (++opened == 3) way.learned->saw_round_trip(std::chrono::milliseconds(100));
    if (opened < 3) return;
    const auto error = rdmap::error_code(ddp::UntaggedError::kMsnRange);
    pair.say(Framer().fpdu(Messages().terminate(rdmap::make_terminate(error))));
  };
  std::vector<Verdict> verdicts;
  const Report report =
      run_of(way, "untagged-msn-skipped", [&](const CaseResult& one) { verdicts.push_back(one.verdict); });
  EXPECT_EQ(verdicts, (std::vector{Verdict::kWarn, Verdict::kPass}));
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].verdict, Verdict::kPass);
  EXPECT_EQ(report.cases[0].exchanges.size(), 1U) << "of the second time alone";
  EXPECT_EQ(report.round_trip, std::chrono::milliseconds(100));
  EXPECT_EQ(report.quiet, std::chrono::milliseconds(201));
}

TEST(Runner, JudgesOnceWhereThePeerIsAsFastAsItWas) {
  Scripted way;
  way.quiet = std::chrono::milliseconds(1);
  int times = 0;
  run_of(way, "untagged-msn-skipped", [&](const CaseResult&) { ++times; });
  EXPECT_EQ(times, 1);
}

// Combinations that do not begin in time are marked, and only where the time is limited: not where they are named.
TEST(Runner, MarksWhatDidNotBeginInTime) {
  Scripted way;
  const std::string name = "crc.second.write.bit-0.whole.apart";
  const auto marked = [&](const std::string& only) {
    const Report report =
        run(way, {.filter = {.only = {only}}, .depth = Depth::kQuick, .planned_time = std::chrono::seconds(-1)});
    EXPECT_FALSE(report.cases.empty());
    return std::ranges::count_if(report.cases, [](const CaseResult& one) {
      EXPECT_TRUE(!one.out_of_time || one.verdict == Verdict::kNotApplicable);
      return one.what->planned && one.out_of_time;
    });
  };
  EXPECT_GT(marked("msn"), 1);
  EXPECT_EQ(marked(name), 0);
}

}  // namespace
}  // namespace weft::probe::test
