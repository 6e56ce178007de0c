// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/junit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/cli/markup.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/outcome.hpp"
#include "tools/probe/spot.hpp"

namespace weft::tools::probing {
namespace {

using XmlOut = std::back_insert_iterator<std::string>;

// One test, whatever it is of.
struct TestCase {
  std::string_view clause{};
  std::string name{};
  Verdict verdict{};
  std::string message{};
  std::chrono::milliseconds took{};
  bool known{};
};

// A known failure or warning is skipped.
enum class Result : std::uint8_t { kPassed, kFailed, kSkipped };
Result result_of(const TestCase& test, bool strict) noexcept {
  if (test.known || test.verdict == Verdict::kNotApplicable) return Result::kSkipped;
  const bool fails = test.verdict == Verdict::kFail || (strict && test.verdict == Verdict::kWarn);
  return fails ? Result::kFailed : Result::kPassed;
}

std::string seconds_of(std::chrono::milliseconds took) {
  return fmt::format("{}.{:03}", took.count() / 1000, took.count() % 1000);
}

void put_result(XmlOut out, const TestCase& test, bool strict) {
  const std::string message = attribute(test.message);
  switch (result_of(test, strict)) {
    case Result::kSkipped: fmt::format_to(out, "      <skipped message=\"{}\"/>\n", message); break;
    case Result::kFailed:
      fmt::format_to(out, "      <failure type=\"{}\" message=\"{}\"/>\n", name(test.verdict), message);
      break;
    case Result::kPassed:
      if (test.verdict == Verdict::kWarn)
        fmt::format_to(out, "      <system-out>warn: {}</system-out>\n", escape(test.message));
      break;
  }
}

void put_suite(XmlOut out, std::string_view name, const std::vector<TestCase>& tests, bool strict) {
  const auto count = [&](Result result) {
    return std::ranges::count_if(tests, [&](const TestCase& test) { return result_of(test, strict) == result; });
  };
  fmt::format_to(out, "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n", name,
                 tests.size(), count(Result::kFailed), count(Result::kSkipped));
  for (const TestCase& test : tests) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{}\" time=\"{}\">\n", attribute(test.clause),
                   attribute(test.name), seconds_of(test.took));
    put_result(out, test, strict);
    fmt::format_to(out, "    </testcase>\n");
  }
  fmt::format_to(out, "  </testsuite>\n");
}

std::string message_of(std::string_view clause, const std::string& reason) {
  return fmt::format("{} ({}): {}", clause, place_of_clause(clause), reason);
}

// Where, how often, and whether it is known.
template <typename One>
void mark(TestCase& test, const One& one, const std::optional<Spot>& spot) {
  if (test.verdict == Verdict::kFail || test.verdict == Verdict::kWarn) {
    if (spot) test.message += "; about " + in_words(*spot);
    test.known = one.known.has_value();
    if (one.known)
      test.message = fmt::format("known{}{}; {}", one.known->empty() ? "" : ": ", *one.known, test.message);
  }
  if (const auto flaky = flaky_text(one.verdicts); !flaky.empty()) test.message += "; " + flaky;
}

TestCase test_of(const CaseResult& one) {
  const bool skipped = one.verdict == Verdict::kNotApplicable;
  TestCase test{.clause = one.what->clause,
                .name = std::string(one.what->name),
                .verdict = one.verdict,
                .message = skipped ? one.reason : message_of(one.what->clause, one.reason),
                .took = one.took};
  const bool trouble = one.verdict == Verdict::kFail || one.verdict == Verdict::kWarn;
  mark(test, one, trouble ? spot_of(one) : std::nullopt);
  return test;
}

TestCase test_of(const Report& report, const RuleResult& rule) {
  TestCase test{.clause = rule.rule->clause, .name = std::string(rule.rule->sentence), .verdict = rule.verdict};
  const CaseResult* const one = case_of(report, rule);
  if (rule.verdict == Verdict::kNotApplicable) {
    test.message = "the peer sent nothing that this rule judges";
  } else if (one != nullptr) {
    test.message =
        message_of(test.clause, fmt::format("broken {} time{}, first in {}: {}", rule.breaches,
                                            rule.breaches == 1 ? "" : "s", one->what->name, rule.first->message));
  }
  mark(test, rule, spot_of(report, rule));
  return test;
}

std::vector<TestCase> of_level(const std::vector<TestCase>& all, Level level) {
  std::vector<TestCase> out;
  std::ranges::copy_if(all, std::back_inserter(out),
                       [&](const TestCase& test) { return level_of(test.clause) == level; });
  return out;
}

void put_absent(XmlOut out, const Report& report) {
  if (report.known_absent.empty()) return;
  fmt::format_to(out, "  <testsuite name=\"known findings\" tests=\"{}\" failures=\"0\" errors=\"0\" skipped=\"0\">\n",
                 report.known_absent.size());
  for (const AbsentFinding& one : report.known_absent)
    fmt::format_to(out,
                   "    <testcase classname=\"known findings\" name=\"{}\">\n      <system-out>known, but did not "
                   "occur: {}</system-out>\n    </testcase>\n",
                   attribute(one.id), escape(one.words));
  fmt::format_to(out, "  </testsuite>\n");
}

}  // namespace

std::string junit_of(const Report& report, bool strict) {
  std::vector<TestCase> cases;
  std::vector<TestCase> rules;
  for (const CaseResult& one : report.cases) cases.push_back(test_of(one));
  if (report.gone)
    cases.push_back({.name = "the peer accepts connections", .verdict = Verdict::kFail, .message = gone_text(report)});
  for (const RuleResult& rule : report.rules) rules.push_back(test_of(report, rule));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  XmlOut out(text);
  fmt::format_to(out, "<testsuites name=\"{}\">\n",
                 attribute(report.title.empty() ? "weft probe " + report.target : report.title));
  for (const Level level : kLevels)
    put_suite(out, fmt::format("cases: {}", name(level)), of_level(cases, level), strict);
  for (const Level level : kLevels)
    put_suite(out, fmt::format("rules of weft audit, applied to what the peer sent: {}", name(level)),
              of_level(rules, level), strict);
  put_absent(out, report);
  fmt::format_to(out, "</testsuites>\n");
  return text;
}

}  // namespace weft::tools::probing
