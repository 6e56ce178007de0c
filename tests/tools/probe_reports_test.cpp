// SPDX-License-Identifier: Apache-2.0
// The prober's reports for people, their parts, and the exit code. probe_reports.py holds those for programs against their formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sample_report.hpp"
#include "tests/temporary_directory.hpp"
#include "tools/cli/markup.hpp"
#include "tools/probe/captures.hpp"
#include "tools/probe/clause_table.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/exchange_view.hpp"
#include "tools/probe/html_report.hpp"
#include "tools/probe/json_report.hpp"
#include "tools/probe/junit_report.hpp"
#include "tools/probe/known.hpp"
#include "tools/probe/outcome.hpp"
#include "tools/probe/spot.hpp"
#include "tools/probe/text_report.hpp"
#include "unwrapped.hpp"

namespace weft::tools::probing {
namespace {

using test::sample_report;
using testing::HasSubstr;
using testing::Not;

Report with_verdicts(std::initializer_list<Verdict> verdicts) {
  static const Case one{.name = "one", .clause = "DDP-7.1-09"};
  Report report{.target = "192.0.2.7:4420", .profile = "raw"};
  for (const Verdict verdict : verdicts) report.cases.push_back({.what = &one, .verdict = verdict});
  return report;
}

ExitCode code_of(const Outcome<void>& outcome) { return outcome ? ExitCode::kSuccess : outcome.error().code; }

TEST(ProbeOutcome, IsThatOfTheAuditor) {
  EXPECT_EQ(code_of(outcome_of(with_verdicts({Verdict::kPass, Verdict::kNotApplicable}), true)), ExitCode::kSuccess);
  EXPECT_EQ(code_of(outcome_of(with_verdicts({Verdict::kPass, Verdict::kFail}), false)), ExitCode::kFailure);
  EXPECT_EQ(code_of(outcome_of(with_verdicts({Verdict::kWarn}), false)), ExitCode::kSuccess);
  EXPECT_EQ(code_of(outcome_of(with_verdicts({Verdict::kWarn}), true)), ExitCode::kFailure);
  EXPECT_EQ(no_peer("nothing is listening on 192.0.2.7:4420").error().code, static_cast<ExitCode>(3));
}

TEST(ProbeOutcome, DoesNotPraiseWhatWasNotJudged) {
  EXPECT_EQ(code_of(outcome_of(with_verdicts({}), false)), ExitCode::kFailure);
  const Outcome<void> outcome = outcome_of(with_verdicts({Verdict::kNotApplicable}), false);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().sentence, "no case applies to the peer at 192.0.2.7:4420 in the profile 'raw'.");
}

TEST(ProbeOutcome, CountsBrokenRules) {
  Report report = with_verdicts({Verdict::kPass});
  report.rules.push_back({.rule = conformance::all_rules().front(), .verdict = Verdict::kFail, .breaches = 1});
  const Outcome<void> outcome = outcome_of(report, false);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().sentence, "0 failed cases, 1 broken rule at 192.0.2.7:4420.");
}

TEST(ProbeClauses, AreThoseOfTheCatalogue) {
  const ClauseText* const clause = find_clause("DDP-7.1-09");
  ASSERT_NE(clause, nullptr);
  EXPECT_EQ(clause->rfc, "5041");
  EXPECT_EQ(clause->section, "7.1");
  EXPECT_EQ(find_clause("id"), nullptr);
  EXPECT_EQ(find_clause("DDP-7.1-999"), nullptr);
  // In the catalogue this sentence stands in quotes, for it has commas.
  EXPECT_THAT(demand_of("MPA-1.2-01"), HasSubstr("TCP establishment, an out-of-scope agreement"));
  EXPECT_EQ(place_of_clause("MPA-1.2-01"), "RFC 5044 section 1.2, FACT");
  EXPECT_EQ(name_of(group_of("DDP-7.1-09")), "DDP, RFC 5041 section 7");
  EXPECT_LT(group_of("MPA-7.1.1-04"), group_of("MPA2-9-03"));
  EXPECT_EQ(name_of(group_of("SEC-5.1.1-01")), "security, RFC 5042 section 5");
  EXPECT_LT(group_of("DDP-7.1-09"), group_of("nothing"));
}

// A name that the catalogue does not have would leave its reader without the RFC's words.
TEST(ProbeClauses, HaveThoseOfAllCases) {
  std::vector<const Case*> all = planned_cases(Depth::kQuick, 1, [](std::uint32_t) { return true; });
  for (const Case& one : all_cases()) all.push_back(&one);
  for (const Case* const each : all) {
    const Case& one = *each;
    EXPECT_NE(find_clause(one.clause), nullptr) << one.name << ": " << one.clause;
    for (const auto also : one.also) EXPECT_NE(find_clause(also), nullptr) << one.name << ": " << also;
    EXPECT_EQ(capture_name(one.name), std::string(one.name) + ".pcap");
  }
}

TEST(ProbeMarkup, LeavesNothingThatMeansSomething) {
  EXPECT_EQ(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escape("a\x1b\nb"), "a\xEF\xBF\xBD\nb");
  EXPECT_EQ(attribute("a\n<"), "a&#10;&lt;");
}

TEST(ProbeView, HasFramesEndsAndWhatIsNeither) {
  const Report report = sample_report();
  EXPECT_EQ(short_text(view_of(report.cases[0].exchanges[0]), 9),
            "> MPA Request (24), < MPA Reply (24), > FPDU 1: Send (56), < FPDU 1: Terminate 2/0/02: "
            "an FPDU's CRC is wrong (28), < FIN, > FIN");
  EXPECT_THAT(short_text(view_of(report.cases[3].exchanges[0]), 9), HasSubstr("< octets that make no frame (3000)"));
  EXPECT_EQ(short_text(view_of(report.cases[5].exchanges[0]), 9),
            "> MPA startup frame, malformed: the startup frame does not begin with the MPA key (24), < FIN");
  EXPECT_EQ(short_text(view_of({}), 9), "nothing");
}

// Each octet of a stream stands in one item, whatever the walk makes of it.
TEST(ProbeView, LosesNoOctet) {
  for (const CaseResult& one : sample_report().cases) {
    for (const Exchange& exchange : one.exchanges) {
      std::array<std::size_t, 2> sent{}, viewed{};
      for (const Part& part : exchange.parts) sent[part.from_peer] += part.octets.size();
      for (const ViewItem& item : view_of(exchange, {.items = 100000}).items) viewed[item.from_peer] += item.size;
      EXPECT_EQ(sent, viewed) << one.what->name;
    }
  }
}

TEST(ProbeView, TellsWhoBrokeWhat) {
  const Report report = sample_report();
  const ExchangeView ours = view_of(report.cases[0].exchanges[0]);
  ASSERT_EQ(ours.items[2].breaches.size(), 1U);
  EXPECT_FALSE(ours.items[2].breaches[0].by_peer);
  const ExchangeView peers = view_of(report.cases[2].exchanges[0]);
  const ViewItem& fpdu = peers.items[2];
  ASSERT_EQ(fpdu.breaches.size(), 1U);
  EXPECT_TRUE(fpdu.breaches[0].by_peer);
  ASSERT_EQ(fpdu.marks.size(), 1U);
  EXPECT_EQ(fpdu.octets[fpdu.marks[0].at], std::byte{0x5A});
}

TEST(ProbeView, IsBounded) {
  const ExchangeView view =
      view_of(sample_report().cases[4].exchanges[0], {.items = 10, .octets_of_item = 50, .octets = 120});
  EXPECT_EQ(view.items.size(), 10U);
  EXPECT_EQ(view.left_out, 1492U);
  std::size_t octets = 0;
  for (const ViewItem& item : view.items) octets += item.octets.size();
  EXPECT_EQ(octets, 120U);
  EXPECT_THAT(short_text(view, 3), testing::EndsWith(", and 1499 more"));
}

TEST(ProbeText, BeginsWithTheFailuresAndEndsWithTheVerdict) {
  const std::string text = text_of(sample_report(), false, Palette());
  const auto failed = text.find("fail RDMAP-7.2-03 (RFC 5040 section 7.2, ");
  const auto warned = text.find("warn DDP-7.1-09 (RFC 5041 section 7.1, ");
  const auto table = text.find("cases by section");
  ASSERT_NE(table, std::string::npos) << text;
  EXPECT_LT(failed, warned);
  EXPECT_LT(warned, table);
  EXPECT_THAT(text, HasSubstr("    What came: RST came, and a Terminate should have come\n"));
  EXPECT_THAT(text,
              HasSubstr("    Again: weft probe --profile 'it'\\''s mine' --seed 7 --only failed 192.0.2.7:4420\n"));
  EXPECT_THAT(test::unwrapped(text), HasSubstr(std::string(demand_of("RDMAP-7.2-03"))));
  EXPECT_THAT(text, testing::ContainsRegex("DDP, RFC 5041 section 7 +0 +1 +0 +0\n"));
  EXPECT_THAT(text, HasSubstr("\nFAILURES: 8 cases: 3 pass, 1 warn, 2 fail, 2 not applicable; "));
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "the peer's octets move the cursor";
  EXPECT_THAT(text_of(sample_report(), false, Palette(true)), HasSubstr("\x1b[1;31mfail\x1b[0m"));
}

TEST(ProbeText, TellsEachCaseInALine) {
  const Report report = sample_report();
  EXPECT_EQ(progress_text(report.cases[0], 7, 311, Palette()), "[  7/311] pass  MPA-4.4-19 passed");
  EXPECT_EQ(progress_text(report.cases[6], 311, 311, Palette()), "[311/311] n/a   XXX-1-01 unreached");
}

TEST(ProbeText, SaysHowALaterRunIsTheSame) {
  Report report = with_verdicts({});
  report.listens = true;
  report.seed = 3;
  EXPECT_EQ(again(report, "one"), "weft probe --profile raw --seed 3 --only one --listen 192.0.2.7:4420");
  EXPECT_EQ(role_of(report), "initiator");
}

// Connection, FPDU and octet: of what the case has marked, of what the prober broke, of what a rule finds.
TEST(ProbeSpot, IsConnectionFpduAndOctet) {
  const Report report = sample_report();
  const auto passed = spot_of(report.cases[1]);  // two connections on which a Send has a wrong CRC
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->exchange, 1U);
  EXPECT_EQ(passed->fpdu, 1U);
  EXPECT_EQ(passed->begin, 24U);
  EXPECT_GE(passed->octet, 24U);
  EXPECT_THAT(text_of(report, false, Palette()), HasSubstr("    About: connection 2, FPDU 1 of the prober, octet "));
  const auto rule = std::ranges::find_if(
      report.rules, [](const RuleResult& one) { return one.verdict == Verdict::kFail && one.case_index == 2; });
  ASSERT_NE(rule, report.rules.end());
  const auto broken = spot_of(report, *rule);
  ASSERT_TRUE(broken);
  EXPECT_TRUE(broken->by_peer);
  EXPECT_EQ(broken->fpdu, 1U);
  EXPECT_GT(broken->octet, broken->begin) << "the PAD lies in it";
  EXPECT_FALSE(spot_of(report.cases[6])) << "no connection";

  Report marked = sample_report();
  marked.cases[1].exchanges[0].subject = Subject{.fpdu = 9, .stream_offset = 700};
  EXPECT_EQ(in_words(*spot_of(marked.cases[1])),
            "connection 1, FPDU 9 of the prober, octet 700 of its stream (0 of the FPDU)");
}

TEST(ProbeLevels, AreCountedApart) {
  const Report report = sample_report();
  const Counts must = of_level(report, Level::kMust), should = of_level(report, Level::kShould);
  EXPECT_EQ(must.all() + should.all(), report.cases.size() + report.rules.size());
  EXPECT_GT(should.all(), 0U);
  EXPECT_EQ(level_of("MPA-7.1.2-16"), Level::kShould);
  EXPECT_EQ(level_of("MPA-7.1.2-04"), Level::kMust);
  const std::string text = test::unwrapped(text_of(report, false, Palette()));
  EXPECT_THAT(text, HasSubstr("cases and rules of MUST, MUST NOT and facts"));
  EXPECT_THAT(text, HasSubstr("failures: "));
  EXPECT_THAT(html_of(report, false), HasSubstr("<h3>Failures of MUST, MUST NOT and facts</h3>"));
  EXPECT_THAT(junit_of(report, false), HasSubstr("<testsuite name=\"cases: SHOULD\""));
}

// What is known stays in the reports, and does not count.
TEST(ProbeKnown, DoesNotCount) {
  Report report = sample_report();
  const auto exists = [](std::string_view) { return true; };
  std::string all = "failed # 4711\nhostile\nwarned initiator\npassed\n";
  for (const RuleResult& rule : report.rules) {
    if (rule.verdict == Verdict::kFail) all += std::string(rule.rule->clause) + "\n";
  }
  auto known = KnownFindings::parse(all, "known.txt", exists);
  ASSERT_TRUE(known);
  mark_known(report, *known);
  EXPECT_EQ(report.cases[2].known, "4711");
  EXPECT_FALSE(report.cases[1].known) << "the peer is the responder";
  EXPECT_TRUE(outcome_of(report, false));
  EXPECT_FALSE(outcome_of(report, true)) << "one warning is not known";
  ASSERT_EQ(report.known_absent.size(), 2U);
  EXPECT_EQ(report.known_absent[1].id, "passed");
  EXPECT_THAT(text_of(report, false, Palette()), HasSubstr("    Known: 4711\n"));
  EXPECT_THAT(text_of(report, false, Palette()), HasSubstr("known, but did not occur: passed"));
  EXPECT_THAT(html_of(report, false), HasSubstr("Known: 4711."));
  EXPECT_THAT(junit_of(report, false), Not(HasSubstr("<failure")));
  EXPECT_THAT(json_of(report, false), HasSubstr("\"known\": \"4711\""));
}

// Combinations by the first labels of their names.
TEST(ProbeKnown, CoversCombinations) {
  Report report;
  for (const char* name :
       {"crc.first.send.bit-0.whole.apart", "crc.first.write.bit-0.whole.apart", "crc.second.write.bit-0.whole.apart"})
    report.cases.push_back({.what = planned_cases_of(name).front(), .verdict = Verdict::kFail});
  auto known =
      KnownFindings::parse("crc.first # all\ncrc.second.write.bit-0.whole.apart # one\n", "known.txt", is_rule_or_case);
  ASSERT_TRUE(known) << known.error().sentence;
  mark_known(report, *known);
  EXPECT_EQ(report.cases[0].known, "all");
  EXPECT_EQ(report.cases[1].known, "all");
  EXPECT_EQ(report.cases[2].known, "one");
  EXPECT_TRUE(report.known_absent.empty());
}

TEST(ProbeFlaky, IsToldWithItsRuns) {
  Report report = with_verdicts({Verdict::kFail, Verdict::kPass});
  report.runs = 5;
  report.cases[0].verdicts = {3, 0, 2, 0};
  report.cases[1].verdicts = {5, 0, 0, 0};
  EXPECT_EQ(flaky_text(report.cases[0].verdicts), "flaky: fail in 2 of 5 runs, pass in 3");
  EXPECT_EQ(flaky_text(report.cases[1].verdicts), "");
  EXPECT_THAT(text_of(report, false, Palette()), HasSubstr("    Unsteady: flaky: fail in 2 of 5 runs, pass in 3\n"));
  EXPECT_THAT(overall_line(report, false, Palette()), HasSubstr("; 1 flaky; 5 runs"));
  EXPECT_THAT(html_of(report, false), HasSubstr("flaky: fail in 2 of 5 runs"));
  EXPECT_THAT(junit_of(report, false), HasSubstr("flaky: fail in 2 of 5 runs"));
  EXPECT_THAT(json_of(report, false), HasSubstr("\"flaky\": true"));
}

// A peer that fails thousands of combinations fills no book.
TEST(ProbePlanned, FailuresOfOneRuleAreToldInFullThreeTimes) {
  Report report;
  for (const Case* const one : planned_cases_of("crc.first"))
    report.cases.push_back({.what = one, .verdict = Verdict::kFail, .reason = "no Terminate came"});
  ASSERT_GT(report.cases.size(), 100U);
  const auto count = [](const std::string& text, std::string_view word) {
    std::size_t out = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++out;
    return out;
  };
  const std::string text = text_of(report, false, Palette());
  EXPECT_EQ(count(text, "    Again: "), 3U);
  EXPECT_THAT(text, HasSubstr(" more combinations of crc: "));
  EXPECT_EQ(count(html_of(report, false), "Again: "), 3U);
}

// A sample that the time has cut is told as one, rule by rule. It is no failure.
TEST(ProbePlanned, WhatTheTimeLeftOutIsCounted) {
  Report report;
  const auto add = [&](std::string_view rule, std::size_t begun) {
    for (const Case* const one : planned_cases_of(rule)) {
      const bool late = begun == 0;
      report.cases.push_back({.what = one, .verdict = late ? Verdict::kNotApplicable : Verdict::kPass});
      report.cases.back().out_of_time = late;
      if (!late) --begun;
    }
  };
  add("crc.first.send.bit-0.whole", 3);
  EXPECT_THAT(text_of(report, false, Palette()) + json_of(report, false), Not(HasSubstr("not run")));
  EXPECT_THAT(json_of(report, false), Not(HasSubstr("out_of_time")));
  add("mo", 100000);
  add("stag.first.read", 10);
  add("bounds.first.read.bit-32.whole", 0);
  EXPECT_THAT(
      test::unwrapped(text_of(report, false, Palette())),
      HasSubstr("not run, as the 50 s for combinations of depth quick were over: stag 20 of 30, bounds 3 of 3\n"));
  EXPECT_THAT(overall_line(report, false, Palette()), HasSubstr("; 23 combinations not run: the time was over"));
  EXPECT_THAT(html_of(report, false), HasSubstr("; 23 combinations not run: the time was over"));
  EXPECT_THAT(json_of(report, false), HasSubstr("\"out_of_time\""));
  EXPECT_TRUE(outcome_of(report, true));
}

TEST(ProbeTitle, HeadsEachReport) {
  Report report = with_verdicts({Verdict::kPass});
  report.title = "RNIC & <firmware> 3";
  EXPECT_THAT(text_of(report, false, Palette()), testing::StartsWith("RNIC & <firmware> 3\n"));
  EXPECT_THAT(html_of(report, false), HasSubstr("<title>RNIC &amp; &lt;firmware&gt; 3</title>"));
  EXPECT_THAT(junit_of(report, false), HasSubstr("<testsuites name=\"RNIC &amp; &lt;firmware&gt; 3\">"));
  EXPECT_THAT(json_of(report, false), HasSubstr("\"title\": \"RNIC & <firmware> 3\""));
}

TEST(ProbeHtml, ShowsAnInterruptedRunAsOne) {
  Report report = with_verdicts({Verdict::kPass});
  report.interrupted = true;
  EXPECT_THAT(html_of(report, false), HasSubstr("interrupted before the last case"));
}

class ProbeCaptures : public testing::Test {
 protected:
  const test::TemporaryDirectory directory_{};
  const std::filesystem::path folder_ = directory_.path() / "captures";
};

TEST_F(ProbeCaptures, AreMadeInANewFolder) {
  ASSERT_TRUE(write_captures(sample_report(), folder_));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "failed.pcap"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "unreached.pcap")) << "it has no connection";
  EXPECT_TRUE(write_captures(sample_report(), folder_)) << "a second run replaces them";
}

TEST_F(ProbeCaptures, SayWhyTheyCannotBeMade) {
  std::ofstream(folder_) << "a file";
  for (const auto& folder : {folder_, folder_ / "below"}) {
    const auto written = write_captures(sample_report(), folder);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ExitCode::kUnwritten);
    EXPECT_THAT(written.error().sentence, HasSubstr(folder_.string()));
  }
}

TEST_F(ProbeCaptures, SayThatTheDiskIsFull) {
  std::filesystem::create_directory(folder_);
  std::filesystem::create_directory(folder_ / "failed.pcap");
  const auto written = write_captures(sample_report(), folder_);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().sentence, HasSubstr("failed.pcap"));
}

TEST_F(ProbeCaptures, HaveNamesThatLeadNowhereElse) {
  EXPECT_EQ(capture_name("../../etc/x y"), "_._.._etc_x_y.pcap");
  EXPECT_EQ(capture_name(""), ".pcap");
}

}  // namespace
}  // namespace weft::tools::probing
