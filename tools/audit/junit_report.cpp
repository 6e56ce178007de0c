// SPDX-License-Identifier: Apache-2.0
// JUnit's XML, as CI systems read it: a suite per connection, in it a case for each rule that was broken, or one that
// passed when none was; and a suite with an error for a capture that is incomplete: not read to its end, or mostly not
// checked. Where less is missing, a skipped case of the connection says so.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/audit/verdict.hpp"
#include "tools/audit/writings.hpp"
#include "tools/cli/markup.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Finding;
using conformance::Severity;

namespace {

enum class Result : std::uint8_t { kPassed, kFailed, kSkipped };

// A known finding is skipped.
Result result_of(const conformance::Rule& rule, bool known, bool strict) noexcept {
  if (known) return Result::kSkipped;
  const bool fails = rule.severity == Severity::kViolation || (strict && rule.severity == Severity::kWarning);
  return fails ? Result::kFailed : Result::kPassed;
}
Result result_of(const Finding& finding, bool strict) noexcept {
  return result_of(*finding.rule, finding.known.has_value(), strict);
}
Result result_of(const Broken& one, bool strict) noexcept {
  return result_of(*one.rule, one.known == one.count, strict);
}

using Out = std::back_insert_iterator<std::string>;

// `what` is an attribute.
void put_result(Out out, const conformance::Rule& rule, Result result, const std::string& what) {
  switch (result) {
    case Result::kFailed:
      fmt::format_to(out, "      <failure type=\"{}\" message=\"{}\"/>\n", conformance::name(rule.severity), what);
      return;
    case Result::kSkipped: fmt::format_to(out, "      <skipped message=\"{}\"/>\n", what); return;
    case Result::kPassed:
      fmt::format_to(out, "      <system-out>{}: {}</system-out>\n", conformance::name(rule.severity), what);
  }
}

struct Suite {
  std::string name{};
  std::size_t cases{};
  std::ptrdiff_t failures{};
  std::ptrdiff_t skipped{};
  int errors{};
  std::string gaps{};  // what could not be checked; empty: nothing
};

// With the cases that say what was not found.
void open_suite(Out out, const Suite& suite) {
  const std::string& name = suite.name;
  const std::size_t gaps = suite.gaps.empty() ? 0 : 1;
  fmt::format_to(out, "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n", name,
                 std::max<std::size_t>(1, suite.cases) + gaps, suite.failures, suite.errors,
                 suite.skipped + static_cast<std::ptrdiff_t>(gaps));
  if (suite.cases == 0) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"no rule broken{}\"/>\n", name,
                   gaps == 0 ? "" : " in what was checked");
  }
  if (gaps == 0) return;
  fmt::format_to(out,
                 "    <testcase classname=\"{}\" name=\"all octets checked\">\n      <skipped message=\"{}\"/>\n"
                 "    </testcase>\n",
                 name, attribute(suite.gaps));
}

template <typename List>
void open_suite_of(Out out, const std::string& name, const List& list, const std::string& gaps, bool strict) {
  const auto count = [&](Result result) {
    return std::ranges::count_if(list, [&](const auto& one) { return result_of(one, strict) == result; });
  };
  open_suite(out, {.name = name,
                   .cases = list.size(),
                   .failures = count(Result::kFailed),
                   .skipped = count(Result::kSkipped),
                   .gaps = gaps});
}

void put_connection(Out out, const ConnectionReport& connection, const std::string& name, bool strict) {
  open_suite_of(out, name, connection.findings, gaps_of(connection), strict);
  for (const Finding& finding : connection.findings) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{} in packet {}\">\n", name, finding.rule->clause,
                   finding.place.packet);
    const std::string_view known = finding.known ? "known: " : "";
    const std::string_view between = finding.known && !finding.known->empty() ? "; " : "";
    const std::string what =
        attribute(fmt::format("{}{}{}{} ({}), by {}: {}", known, finding.known.value_or(""), between,
                              finding.rule->clause, finding.rule->section, who(finding.direction), finding.message));
    put_result(out, *finding.rule, result_of(finding, strict), what);
    fmt::format_to(out, "    </testcase>\n");
  }
  fmt::format_to(out, "  </testsuite>\n");
}

void put_left_out(Out out, const LeftOut& left_out, const std::string& name, bool strict) {
  open_suite_of(out, name, left_out.broken, gaps_of(left_out), strict);
  for (const Broken& one : left_out.broken) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{}\">\n", name, one.rule->clause);
    const std::string known = one.known == 0 ? "" : fmt::format(", {} of them known", one.known);
    put_result(out, *one.rule, result_of(one, strict),
               attribute(fmt::format("{} ({}): {} findings{}, the first in connection {}, packet {}", one.rule->clause,
                                     one.rule->section, one.count, known, one.connection, one.place.packet)));
    fmt::format_to(out, "    </testcase>\n");
  }
  fmt::format_to(out, "  </testsuite>\n");
}

// Known findings that did not occur, as cases that passed.
void put_absent(Out out, const KnownFindings& known, std::span<const KnownFinding* const> absent) {
  if (absent.empty()) return;
  open_suite(out, {.name = "known findings", .cases = absent.size()});
  for (const KnownFinding* one : absent) {
    fmt::format_to(
        out,
        "    <testcase classname=\"known findings\" name=\"{}\">\n      <system-out>known, but did not occur: "
        "{}</system-out>\n    </testcase>\n",
        attribute(one->id), escape(in_words(*one, known.name())));
  }
  fmt::format_to(out, "  </testsuite>\n");
}

// `what` would have been needed.
void put_damage(Out out, std::string_view what, const std::string& damage, const std::string& name) {
  open_suite(out, {.name = name, .cases = 1, .errors = 1});
  fmt::format_to(out,
                 "    <testcase classname=\"{}\" name=\"{}\">\n      <error message=\"{}\"/>\n"
                 "    </testcase>\n  </testsuite>\n",
                 name, what, attribute(damage));
}

void put_capture(Out out, const Report& report, const std::string& prefix, bool strict) {
  for (const ConnectionReport& connection : report.connections) {
    put_connection(out, connection, prefix + fmt::format("connection {}", connection.info.number), strict);
  }
  const LeftOut& left_out = report.left_out;
  if (left_out.connections != 0) {
    const std::string name = fmt::format("{} connections that are not described", left_out.connections);
    put_left_out(out, left_out, prefix + name, strict);
  }
  const Coverage coverage = coverage_of(report);
  if (!report.damage.empty()) {
    put_damage(out, "read to its end", report.damage, prefix + "capture");
  } else if (!coverage.enough()) {
    put_damage(out, "most octets checked", in_words(coverage), prefix + "capture");
  }
}

}  // namespace

std::string junit_of(std::span<const Report> reports, bool strict, const Known& known) {
  const bool one = reports.size() == 1;
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  auto out = std::back_inserter(text);
  fmt::format_to(out, "<testsuites name=\"{}\">\n",
                 one ? attribute(reports.front().file) : fmt::format("{} captures", reports.size()));
  for (const Report& report : reports) put_capture(out, report, one ? "" : attribute(report.file) + ": ", strict);
  put_absent(out, known.findings, known.absent);
  fmt::format_to(out, "</testsuites>\n");
  return text;
}

}  // namespace weft::tools::audit
