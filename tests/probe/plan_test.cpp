// SPDX-License-Identifier: Apache-2.0
// The generated plan: its names, its samples, and what of it a filter selects.
#include "probe/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "probe/runner.hpp"

namespace weft::probe {
namespace {

bool offers_all(std::uint32_t) { return true; }

using Labels = std::vector<std::string>;

Labels labels_of(std::string_view name) {
  Labels out;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    out.emplace_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  out.emplace_back(name);
  return out;
}

// The one of this name; null where there is none.
const Case* combination(std::string_view name) {
  const auto found = planned_cases_of(name);
  return found.size() == 1 ? found.front() : nullptr;
}

std::vector<const Case*> everything() {
  std::vector<const Case*> out;
  for (const plan::Rule& rule : plan::all_rules()) {
    const auto of_rule = planned_cases_of(rule.name);
    out.insert(out.end(), of_rule.begin(), of_rule.end());
  }
  return out;
}

// Each `strength` values of different axes that occur together.
std::set<Labels> tuples_of(const std::vector<const Case*>& cases, unsigned strength) {
  std::set<Labels> out;
  for (const Case* const one : cases) {
    const Labels labels = labels_of(one->name);
    for (unsigned axes = 0; axes < (1U << (labels.size() - 1)); ++axes) {
      if (static_cast<unsigned>(std::popcount(axes)) != strength) continue;
      Labels tuple{labels[0]};
      for (std::size_t i = 1; i < labels.size(); ++i) tuple.push_back((axes >> (i - 1) & 1U) != 0 ? labels[i] : "");
      out.insert(tuple);
    }
  }
  return out;
}

TEST(Plan, NamesEachCombinationOnce) {
  std::set<std::string_view> names;
  for (const Case* const one : everything()) {
    EXPECT_TRUE(names.insert(one->name).second) << one->name;
    EXPECT_EQ(one->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), std::string_view::npos)
        << one->name;
    EXPECT_TRUE(one->what.ends_with('.')) << one->what;
    EXPECT_TRUE(one->planned);
    EXPECT_TRUE(one->run);
  }
  for (const Case& one : all_cases()) EXPECT_FALSE(names.contains(one.name)) << one.name;
  EXPECT_GT(names.size(), 10'000U);
}

TEST(Plan, FindsACombinationByItsName) {
  const Case* const one = combination("crc.after-32.terminate.bit-31.whole.glued");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->name, "crc.after-32.terminate.bit-31.whole.glued");
  EXPECT_EQ(one, combination(one->name)) << "it is made once";
  EXPECT_EQ(rule_of(*one), "crc");
  EXPECT_EQ(combination("crc.after-32.terminate.bit-31.2of3.glued"), nullptr) << "a Terminate has one segment";
  EXPECT_EQ(combination("crc"), nullptr);
  EXPECT_EQ(combination("no-such-rule.first"), nullptr);
  EXPECT_EQ(rule_of(all_cases().front()), "");
}

// What the issue of a reader names: combinations that a list of cases had not.
TEST(Plan, HasTheCombinationsThatWereMissing) {
  for (const char* name :
       {"crc.second.terminate.bit-0.whole.apart", "invalidate.middle.send-invalidate.region-write.3of3.glued",
        "rights.second.read.write-used.whole.glued", "other-stream.second.write.window-used.whole.apart",
        "ord.fetch-add.2-read", "ird-beyond.second.cmp-swap.1", "response-without-last.second.whole.apart",
        "request-good.256.dribbled", "marker.after-20000.write.before-crc-4.glued",
        "bounds.first.read.bit-32.whole.apart", "stag.after-32.write.zero.2of3.dribbled",
        "good.after-20000.write.65536.3of3.apart", "rdmap-versions.middle.send.2.2of3.apart",
        "bounds-top.read.wraps.whole.glued", "bounds-top.write.up-to-2-64.3of3.apart", "reply-wrong.long-513.dribbled",
        "request-wrong.plain-513.apart", "request-good.257.halted"})
    EXPECT_NE(combination(name), nullptr) << name;
}

// What a peer that does not check does far from its memory ends it, and hides what others would find.
TEST(Plan, HasLastWhatMayEndThePeer) {
  for (const char* name : {"bounds.first.write.wraps.whole.apart", "bounds.middle.read.up-to-2-64.whole.apart",
                           "bounds-window.second.fetch-add.bit-48.whole.apart", "bounds-odd.write.bit-31.whole.apart",
                           "read-size.first.ffffffff.apart"})
    EXPECT_TRUE(combination(name)->last) << name;
  for (const char* name : {"bounds.first.write.across.whole.apart", "bounds-top.write.wraps.whole.apart",
                           "bounds-top.read.up-to-2-64.whole.apart", "read-size.first.10001.apart"})
    EXPECT_FALSE(combination(name)->last) << name;
}

class Depths : public testing::TestWithParam<Depth> {};

TEST_P(Depths, HaveEachTupleOfValues) {
  const unsigned strength = std::to_underlying(GetParam()) + 1U;
  const auto sample = planned_cases(GetParam(), 1, offers_all);
  const auto wanted = tuples_of(everything(), strength), found = tuples_of(sample, strength);
  EXPECT_EQ(found, wanted);
  const std::size_t most = std::array{600U, 4000U, 20000U}[std::to_underlying(GetParam())];
  EXPECT_LT(sample.size(), most);
  RecordProperty("combinations", static_cast<int>(sample.size()));
}
INSTANTIATE_TEST_SUITE_P(Of, Depths, testing::Values(Depth::kQuick, Depth::kNormal, Depth::kDeep));

TEST(Plan, SamplesTheSameBySeed) {
  const auto first = planned_cases(Depth::kQuick, 1, offers_all);
  EXPECT_EQ(first, planned_cases(Depth::kQuick, 1, offers_all));
  EXPECT_NE(first, planned_cases(Depth::kQuick, 2, offers_all));
  EXPECT_LT(first.size(), planned_cases(Depth::kNormal, 1, offers_all).size());
}

// Of a peer that offers little the sample has what can be tried, and one of each rule of which nothing can.
TEST(Plan, SamplesWhatThePeerOffers) {
  const auto offered = [](std::uint32_t needs) { return (needs & ~(kStream | kListens)) == 0; };
  std::map<std::string_view, std::size_t> beyond;
  for (const Case* const one : planned_cases(Depth::kNormal, 1, offered)) {
    if (!offered(one->needs)) ++beyond[rule_of(*one)];
  }
  EXPECT_TRUE(beyond.contains("bounds"));
  EXPECT_FALSE(beyond.contains("crc"));
  for (const auto& [rule, count] : beyond) EXPECT_EQ(count, 1U) << rule;
}

TEST(Filter, SelectsCombinationsByTheirFirstLabels) {
  const Case& one = *combination("crc.first.send.bit-0.whole.apart");
  const Case& longer = *combination("crc.first.send-invalidate.bit-0.whole.apart");
  const auto allows = [](const char* word, const Case& which) { return CaseFilter{.only = {word}}.allows(which); };
  EXPECT_TRUE(allows("crc.first.send.bit-0.whole.apart", one));
  EXPECT_TRUE(allows("crc.first.send", one));
  EXPECT_FALSE(allows("crc.first.send", longer)) << "whole labels";
  EXPECT_FALSE(allows("crc.second", one));
  EXPECT_TRUE(allows("crc", one));
  EXPECT_TRUE(allows("MPA-4.4-19", one)) << "a clause has dots, too";
  EXPECT_TRUE(allows("MPA-6-01", one));
  EXPECT_FALSE((CaseFilter{.skip = {"crc.first"}}).allows(one));
}

}  // namespace
}  // namespace weft::probe
