// SPDX-License-Identifier: Apache-2.0
// Several runs become one report: the worst verdict of each case, and how often each came.
#include <gtest/gtest.h>

#include "probe/report.hpp"

namespace weft::probe {
namespace {

const Case kOne{.name = "one", .clause = "MPA-4.4-19"};
const Case kTwo{.name = "two", .clause = "MPA-4.4-19"};

Exchange sized(std::size_t size) {
  Exchange out;
  out.parts.push_back({Part::kOctets, true, std::vector<std::byte>(size), {}});
  return out;
}
std::size_t size_of(const Exchange& exchange) { return exchange.parts.front().octets.size(); }

Report run_of(Verdict one, Verdict two, std::size_t size) {
  Report out;
  out.took = std::chrono::milliseconds(10);
  out.cases.push_back({.what = &kOne, .verdict = one, .reason = std::to_string(size), .exchanges = {sized(size)}});
  out.cases.push_back({.what = &kTwo, .verdict = two, .exchanges = {sized(size)}});
  out.rules.push_back({.rule = conformance::all_rules().front(), .verdict = Verdict::kPass});
  return out;
}

TEST(Merge, KeepsTheWorstAndCountsTheRest) {
  const Report all = merge({run_of(Verdict::kPass, Verdict::kPass, 1), run_of(Verdict::kFail, Verdict::kPass, 2),
                            run_of(Verdict::kFail, Verdict::kPass, 3), run_of(Verdict::kWarn, Verdict::kPass, 4)});
  EXPECT_EQ(all.runs, 4U);
  EXPECT_EQ(all.took, std::chrono::milliseconds(40));
  EXPECT_EQ(all.cases[0].verdict, Verdict::kFail);
  EXPECT_EQ(all.cases[0].reason, "2") << "of the first run that came to it";
  EXPECT_EQ(size_of(all.cases[0].exchanges[0]), 2U);
  EXPECT_EQ(all.cases[0].verdicts, (Verdicts{1, 1, 2, 0}));
  EXPECT_TRUE(is_flaky(all.cases[0].verdicts));
  EXPECT_EQ(all.cases[1].verdicts, (Verdicts{4, 0, 0, 0}));
  EXPECT_FALSE(is_flaky(all.cases[1].verdicts));
}

// The last run may have been interrupted: it lacks cases, also in front of others.
TEST(Merge, FindsTheCasesOfAnInterruptedRun) {
  Report last = run_of(Verdict::kFail, Verdict::kFail, 2);
  last.cases.erase(last.cases.begin());
  const Report all = merge({run_of(Verdict::kPass, Verdict::kPass, 1), last});
  ASSERT_EQ(all.cases.size(), 2U);
  EXPECT_EQ(all.cases[0].verdicts, (Verdicts{1, 0, 0, 0}));
  EXPECT_EQ(all.cases[1].verdicts, (Verdicts{1, 0, 1, 0}));
}

// A combination that begins in one run alone, as the time was over in the other, is not flaky.
TEST(Merge, CountsNoVerdictWhereTheTimeWasOver) {
  Report late = run_of(Verdict::kNotApplicable, Verdict::kNotApplicable, 1);
  late.cases[0].out_of_time = true;
  const Report early = run_of(Verdict::kPass, Verdict::kNotApplicable, 2);
  for (const Report& all : {merge({late, early}), merge({early, late})}) {
    EXPECT_EQ(all.cases[0].verdict, Verdict::kPass);
    EXPECT_FALSE(all.cases[0].out_of_time);
    EXPECT_EQ(all.cases[0].verdicts, (Verdicts{1, 0, 0, 0}));
  }
  EXPECT_TRUE(merge({late, late}).cases[0].out_of_time);
  const Report none = run_of(Verdict::kNotApplicable, Verdict::kPass, 3);
  EXPECT_FALSE(merge({late, none}).cases[0].out_of_time) << "it began";
}

TEST(Merge, OfOneRunIsThatRun) {
  const Report all = merge({run_of(Verdict::kFail, Verdict::kPass, 7)});
  EXPECT_EQ(all.runs, 1U);
  EXPECT_EQ(all.cases[0].verdicts, Verdicts{});
  EXPECT_FALSE(is_flaky(all.cases[0].verdicts));
}

// The first breach of a rule may lie in a run whose cases are not the ones that are kept.
TEST(Merge, KeepsTheConnectionOfABreach) {
  Report second = run_of(Verdict::kPass, Verdict::kPass, 2);
  second.rules[0] = {.rule = conformance::all_rules().front(), .verdict = Verdict::kFail, .breaches = 3};
  second.rules[0].first = conformance::Finding{};
  second.rules[0].case_index = 1;
  const Report all =
      merge({run_of(Verdict::kPass, Verdict::kPass, 1), second, run_of(Verdict::kPass, Verdict::kFail, 3)});
  const RuleResult& rule = all.rules[0];
  EXPECT_EQ(rule.verdict, Verdict::kFail);
  EXPECT_EQ(rule.breaches, 3U);
  EXPECT_EQ(rule.verdicts, (Verdicts{2, 0, 1, 0}));
  ASSERT_EQ(rule.case_index, 1U);
  ASSERT_LT(rule.exchange_index, all.cases[1].exchanges.size());
  EXPECT_EQ(size_of(all.cases[1].exchanges[rule.exchange_index]), 2U);
  EXPECT_EQ(size_of(all.cases[1].exchanges[0]), 3U) << "what the failing run saw comes first";
}

}  // namespace
}  // namespace weft::probe
