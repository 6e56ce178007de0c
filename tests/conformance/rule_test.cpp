// SPDX-License-Identifier: Apache-2.0
// The table of rules, and how findings are kept.
#include "conformance/rule.hpp"

#include <gmock/gmock.h>

#include <set>

#include "conformance/finding.hpp"
#include "tests/conformance/conversation.hpp"

using namespace weft::conformance;
using namespace weft::conformance::test;

namespace {

std::size_t position(std::string_view clause) {
  const auto rules = all_rules();
  return static_cast<std::size_t>(std::ranges::find(rules, clause, &Rule::clause) - rules.begin());
}

TEST(Rules, EachIsThereOnceAndSaysWhatItAsksFor) {
  std::set<std::string_view> clauses;
  for (const Rule* rule : all_rules()) {
    EXPECT_TRUE(clauses.insert(rule->clause).second) << rule->clause;
    EXPECT_TRUE(rule->section.starts_with("RFC ")) << rule->clause;
    EXPECT_TRUE(rule->sentence.ends_with(".")) << rule->clause;
  }
}

// Each message type has its own for T and QN; what several share is there once.
TEST(Rules, OfEachMessageAreThere) {
  for (const char* clause : {"RDMAP-5.1-01", "RDMAP-5.2.1-01", "RDMAP-5.2.1-06", "RDMAP-5.2.2-02", "RDMAP-5.3-01",
                             "RDMAP-5.3-08", "RDMAP-5.4-01", "RDMAP-5.4-02", "RDMAPX-6.3-01", "RDMAPX-6.3-04",
                             "RDMAPX-5.2.1-14", "RDMAPX-5.2.1-19", "RDMAPX-5.2.2-05", "RDMAPX-5.2.2-06"}) {
    EXPECT_LT(position(clause), all_rules().size()) << clause;
  }
}

TEST(Rules, StandInTheOrderOfTheRfcs) {
  EXPECT_LT(position("MPA-3-05"), position("MPA-4.1-02"));
  EXPECT_LT(position("MPA-4.3-12"), position("MPA-4.4-13"));
  EXPECT_LT(position("MPA-7.1.2-17"), position("MPA-7.2-01"));
  EXPECT_LT(position("MPA-7.2-01"), position("MPA2-5-03"));
  EXPECT_LT(position("MPA2-9.2-18"), position("MPA2-10-02"));
}

TEST(Findings, AreBoundedPerRuleAndDirection) {
  Conversation conversation;
  Script script = conversation.startup();
  for (unsigned i = 1; i <= 30; ++i) {
    script.send(End::kFirst, conversation.initiator.add(send(i, pattern(30)), {.crc_flip = i}));
    script.send(End::kFirst, conversation.initiator.add(send(i, pattern(30))));
  }
  const ConnectionAudit audit = script.audit();
  EXPECT_EQ(violations(audit).size(), Findings::kMost);
  ASSERT_EQ(audit.findings().suppressed().size(), 1u);
  EXPECT_EQ(audit.findings().suppressed()[0].count, 10u);
  EXPECT_EQ(audit.findings().suppressed()[0].rule->clause, "MPA-4.4-13");
}

}  // namespace
