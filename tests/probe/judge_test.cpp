// SPDX-License-Identifier: Apache-2.0
// What the peer sends is held against the rules of conformance/; what the prober breaks on purpose is not.
#include <gtest/gtest.h>

#include <algorithm>

#include "probe/forge.hpp"
#include "probe/messages.hpp"
#include "probe/runner.hpp"

namespace weft::probe {
namespace {

// A startup, an FPDU of the prober's and one of the peer's.
Exchange conversation(const FpduFault& prober, const FpduFault& peer) {
  Framer ours, theirs;
  Exchange out;
  out.parts.push_back({Part::kOctets, false, forge(mpa::FrameKind::kRequest, {})});
  out.parts.push_back({Part::kOctets, true, forge(mpa::FrameKind::kReply, {})});
  out.parts.push_back({Part::kOctets, false, ours.fpdu(Messages().send(pattern(5)), prober)});
  out.parts.push_back({Part::kOctets, true, theirs.fpdu(Messages().send(pattern(5)), peer)});
  return out;
}

std::vector<std::string> broken(const Exchange& exchange) {
  std::vector<std::string> out;
  for (const RuleResult& one : judge({CaseResult{.exchanges = {exchange}}})) {
    if (one.breaches > 0) out.emplace_back(one.rule->clause);
  }
  return out;
}

TEST(Judge, OfThePeersOctetsAlone) {
  EXPECT_EQ(broken(conversation({}, {})), std::vector<std::string>{});
  EXPECT_EQ(broken(conversation({.crc_xor = 1}, {})), std::vector<std::string>{});
  EXPECT_EQ(broken(conversation({}, {.crc_xor = 1})), std::vector<std::string>{"MPA-4.4-13"});
  EXPECT_EQ(broken(conversation({}, {.pad = std::byte{1}})), std::vector<std::string>{"MPA-4.1-03"});
}

TEST(Judge, TellsWhereItWas) {
  const auto results =
      judge({CaseResult{}, CaseResult{.exchanges = {conversation({}, {}), conversation({}, {.crc_xor = 1})}}});
  const auto one = std::ranges::find_if(results, [](const RuleResult& result) { return result.breaches > 0; });
  ASSERT_NE(one, results.end());
  EXPECT_EQ(one->verdict, Verdict::kFail);
  EXPECT_EQ(one->case_index, 1U);
  EXPECT_EQ(one->exchange_index, 1U);
  EXPECT_EQ(one->first->place.packet, 4U);
}

// A Send was seen, and no other message: rules of Reads and Terminates had nothing to judge.
TEST(Judge, OfWhatThePeerSentAlone) {
  const auto results = judge({CaseResult{.exchanges = {conversation({}, {})}}});
  const auto verdict = [&](std::string_view clause) {
    return std::ranges::find(results, clause, [](const RuleResult& one) { return one.rule->clause; })->verdict;
  };
  EXPECT_EQ(verdict("RDMAP-5.3-01"), Verdict::kPass);
  EXPECT_EQ(verdict("MPA-4.4-13"), Verdict::kPass);
  EXPECT_EQ(verdict("RDMAP-5.2.2-02"), Verdict::kNotApplicable);
  EXPECT_EQ(verdict("RDMAP-5.4-01"), Verdict::kNotApplicable);
  EXPECT_EQ(verdict("MPA-4.2-02"), Verdict::kNotApplicable);
  EXPECT_EQ(verdict("MPA-7.1.2-13"), Verdict::kNotApplicable);
}

TEST(CaseFilter, TakesTheBeginningOfAName) {
  const auto count = [](const std::string& word) {
    return std::ranges::count_if(all_cases(), [&](const Case& one) { return CaseFilter{.only = {word}}.allows(one); });
  };
  EXPECT_GT(count("crc-"), 1);
  EXPECT_EQ(count("untagged-no-buffer"), 1) << "it is the whole name of one";
  EXPECT_EQ(count("no-such"), 0);
}

TEST(Judge, SaysNothingWhereTheStartUpWasForged) {
  auto exchange = conversation({}, {.crc_xor = 1});
  exchange.prober_breaks_startup = true;
  for (const RuleResult& one : judge({CaseResult{.exchanges = {exchange}}}))
    EXPECT_EQ(one.verdict, Verdict::kNotApplicable);
}

}  // namespace
}  // namespace weft::probe
