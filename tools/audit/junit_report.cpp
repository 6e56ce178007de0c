// SPDX-License-Identifier: Apache-2.0
// JUnit's XML, as CI systems read it: a suite per connection, in it a case for each rule that was broken, or one that
// passed when none was; and a suite with an error for a capture that could not be read to its end.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/audit/writings.hpp"
#include "tools/cli/markup.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Finding;
using conformance::Severity;

namespace {

bool fails(const conformance::Rule& rule, bool strict) noexcept {
  return rule.severity == Severity::kViolation || (strict && rule.severity == Severity::kWarning);
}

using Out = std::back_insert_iterator<std::string>;

void put_verdict(Out out, const conformance::Rule& rule, bool strict, const std::string& what) {
  if (fails(rule, strict)) {
    fmt::format_to(out, "      <failure type=\"{}\" message=\"{}\"/>\n", conformance::name(rule.severity), what);
  } else {
    fmt::format_to(out, "      <system-out>{}: {}</system-out>\n", conformance::name(rule.severity), what);
  }
}

void open_suite(Out out, const std::string& name, std::size_t cases, std::ptrdiff_t failures, int errors = 0) {
  fmt::format_to(out, "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n", name,
                 std::max<std::size_t>(1, cases), failures, errors);
  if (cases == 0) fmt::format_to(out, "    <testcase classname=\"{}\" name=\"no rule broken\"/>\n", name);
}

void put_connection(Out out, const ConnectionReport& connection, const std::string& name, bool strict) {
  const auto failures =
      std::ranges::count_if(connection.findings, [&](const Finding& f) { return fails(*f.rule, strict); });
  open_suite(out, name, connection.findings.size(), failures);
  for (const Finding& finding : connection.findings) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{} in packet {}\">\n", name, finding.rule->clause,
                   finding.place.packet);
    const std::string what = attribute(fmt::format("{} ({}), by {}: {}", finding.rule->clause, finding.rule->section,
                                                   who(finding.direction), finding.message));
    put_verdict(out, *finding.rule, strict, what);
    fmt::format_to(out, "    </testcase>\n");
  }
  fmt::format_to(out, "  </testsuite>\n");
}

void put_left_out(Out out, const LeftOut& left_out, const std::string& name, bool strict) {
  const auto failures =
      std::ranges::count_if(left_out.broken, [&](const Broken& one) { return fails(*one.rule, strict); });
  open_suite(out, name, left_out.broken.size(), failures);
  for (const Broken& one : left_out.broken) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{}\">\n", name, one.rule->clause);
    put_verdict(out, *one.rule, strict,
                attribute(fmt::format("{} ({}): {} findings, the first in connection {}, packet {}", one.rule->clause,
                                      one.rule->section, one.count, one.connection, one.place.packet)));
    fmt::format_to(out, "    </testcase>\n");
  }
  fmt::format_to(out, "  </testsuite>\n");
}

void put_damage(Out out, const std::string& damage, const std::string& name) {
  open_suite(out, name, 1, 0, 1);
  fmt::format_to(out,
                 "    <testcase classname=\"{}\" name=\"read to its end\">\n      <error message=\"{}\"/>\n"
                 "    </testcase>\n  </testsuite>\n",
                 name, attribute(damage));
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
  if (!report.damage.empty()) put_damage(out, report.damage, prefix + "capture");
}

}  // namespace

std::string junit_of(std::span<const Report> reports, bool strict) {
  const bool one = reports.size() == 1;
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  auto out = std::back_inserter(text);
  fmt::format_to(out, "<testsuites name=\"{}\">\n",
                 one ? attribute(reports.front().file) : fmt::format("{} captures", reports.size()));
  for (const Report& report : reports) put_capture(out, report, one ? "" : attribute(report.file) + ": ", strict);
  fmt::format_to(out, "</testsuites>\n");
  return text;
}

}  // namespace weft::tools::audit
