// SPDX-License-Identifier: Apache-2.0
// JUnit's XML, as CI systems read it: a suite per connection, in it a case for each rule that was broken, or one that
// passed when none was.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/audit/report.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Finding;
using conformance::Severity;

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

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

void put_left_out(Out out, const LeftOut& left_out, bool strict) {
  const auto failures =
      std::ranges::count_if(left_out.broken, [&](const LeftOut::Broken& one) { return fails(*one.rule, strict); });
  const std::string name = fmt::format("{} connections that are not described", left_out.connections);
  fmt::format_to(out, "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n", name,
                 std::max<std::size_t>(1, left_out.broken.size()), failures);
  if (left_out.broken.empty()) fmt::format_to(out, "    <testcase classname=\"{}\" name=\"no rule broken\"/>\n", name);
  for (const LeftOut::Broken& one : left_out.broken) {
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{}\">\n", name, one.rule->clause);
    put_verdict(out, *one.rule, strict,
                escaped(fmt::format("{} ({}): {} findings, the first in connection {}, packet {}", one.rule->clause,
                                    one.rule->section, one.count, one.connection, one.packet)));
    fmt::format_to(out, "    </testcase>\n");
  }
  fmt::format_to(out, "  </testsuite>\n");
}

}  // namespace

std::string junit_of(const Report& report, bool strict) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  auto out = std::back_inserter(text);
  fmt::format_to(out, "<testsuites name=\"{}\">\n", escaped(report.file));
  for (const ConnectionReport& connection : report.connections) {
    const auto failures =
        std::ranges::count_if(connection.findings, [&](const Finding& f) { return fails(*f.rule, strict); });
    const auto cases = std::max<std::size_t>(1, connection.findings.size());
    fmt::format_to(out, "  <testsuite name=\"connection {}\" tests=\"{}\" failures=\"{}\">\n", connection.info.number,
                   cases, failures);
    if (connection.findings.empty()) {
      fmt::format_to(out, "    <testcase classname=\"connection {}\" name=\"no rule broken\"/>\n",
                     connection.info.number);
    }
    for (const Finding& finding : connection.findings) {
      fmt::format_to(out, "    <testcase classname=\"connection {}\" name=\"{} in packet {}\">\n",
                     connection.info.number, finding.rule->clause, finding.place.packet);
      const std::string what = escaped(fmt::format("{} ({}), by {}: {}", finding.rule->clause, finding.rule->section,
                                                   who(finding.direction), finding.message));
      put_verdict(out, *finding.rule, strict, what);
      fmt::format_to(out, "    </testcase>\n");
    }
    fmt::format_to(out, "  </testsuite>\n");
  }
  if (report.left_out.connections != 0) put_left_out(out, report.left_out, strict);
  fmt::format_to(out, "</testsuites>\n");
  return text;
}

}  // namespace weft::tools::audit
