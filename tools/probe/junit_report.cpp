// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/junit_report.hpp"

#include <fmt/format.h>

#include <iterator>

#include "tools/cli/markup.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/outcome.hpp"

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
};

std::string seconds_of(std::chrono::milliseconds took) {
  return fmt::format("{}.{:03}", took.count() / 1000, took.count() % 1000);
}

void put_result(XmlOut out, const TestCase& test, bool strict) {
  const std::string message = attribute(test.message);
  switch (test.verdict) {
    case Verdict::kPass: break;
    case Verdict::kNotApplicable: fmt::format_to(out, "      <skipped message=\"{}\"/>\n", message); break;
    case Verdict::kFail: fmt::format_to(out, "      <failure type=\"fail\" message=\"{}\"/>\n", message); break;
    case Verdict::kWarn:
      if (strict)
        fmt::format_to(out, "      <failure type=\"warn\" message=\"{}\"/>\n", message);
      else
        fmt::format_to(out, "      <system-out>warn: {}</system-out>\n", escape(test.message));
      break;
  }
}

void put_suite(XmlOut out, std::string_view name, const std::vector<TestCase>& tests, bool strict) {
  Counts counts;
  for (const TestCase& test : tests) counts.add(test.verdict);
  const std::size_t failures = counts.of(Verdict::kFail) + (strict ? counts.of(Verdict::kWarn) : 0);
  fmt::format_to(out, "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n", name,
                 tests.size(), failures, counts.of(Verdict::kNotApplicable));
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

TestCase test_of(const CaseResult& one) {
  const bool skipped = one.verdict == Verdict::kNotApplicable;
  return {.clause = one.what->clause,
          .name = std::string(one.what->name),
          .verdict = one.verdict,
          .message = skipped ? one.reason : message_of(one.what->clause, one.reason),
          .took = one.took};
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
  return test;
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
  fmt::format_to(out, "<testsuites name=\"weft probe {}\">\n", attribute(report.target));
  put_suite(out, "cases", cases, strict);
  put_suite(out, "rules that the peer's octets were held against", rules, strict);
  fmt::format_to(out, "</testsuites>\n");
  return text;
}

}  // namespace weft::tools::probing
