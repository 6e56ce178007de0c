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

bool fails(const Finding& finding, bool strict) noexcept {
  return finding.rule->severity == Severity::kViolation || (strict && finding.rule->severity == Severity::kWarning);
}

}  // namespace

std::string junit_of(const Report& report, bool strict) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  auto out = std::back_inserter(text);
  fmt::format_to(out, "<testsuites name=\"{}\">\n", escaped(report.file));
  for (const ConnectionReport& connection : report.connections) {
    const auto failures =
        std::ranges::count_if(connection.findings, [&](const Finding& f) { return fails(f, strict); });
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
      if (fails(finding, strict)) {
        fmt::format_to(out, "      <failure type=\"{}\" message=\"{}\"/>\n", conformance::name(finding.rule->severity),
                       what);
      } else {
        fmt::format_to(out, "      <system-out>{}: {}</system-out>\n", conformance::name(finding.rule->severity), what);
      }
      fmt::format_to(out, "    </testcase>\n");
    }
    fmt::format_to(out, "  </testsuite>\n");
  }
  fmt::format_to(out, "</testsuites>\n");
  return text;
}

}  // namespace weft::tools::audit
