// SPDX-License-Identifier: Apache-2.0
// The summary: a line for each connection, and a line for each rule that was broken.
#include <fmt/format.h>

#include "common/shown_text.hpp"
#include "tools/audit/text_finding.hpp"
#include "tools/audit/tls_words.hpp"
#include "tools/audit/verdict.hpp"
#include "tools/audit/writings.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Direction;

namespace {

std::string connection_line(const ConnectionReport& report, bool strict, const Palette& palette) {
  const Counts counts = counts_of(report);
  const std::string gaps = gaps_of(report);
  return fmt::format("{} {} -> {}{}: {}, {}{}{}\n",
                     palette.paint(Colour::kBold, fmt::format("connection {}:", report.info.number)),
                     address_of(report.end(Direction::kFromInitiator)),
                     address_of(report.end(Direction::kFromResponder)), path_of(report.info),
                     painted(verdict_of(report, strict), palette), in_words(counts), gaps.empty() ? "" : "; ", gaps);
}

std::string rule_line(const Broken& one, const Palette& palette) {
  return fmt::format("{} {} ({}): {} time{}{}, first in connection {}, {}: {}\n", painted(one.rule->severity, palette),
                     palette.paint(Colour::kBold, one.rule->clause), one.rule->section, one.count, plural(one.count),
                     known_part_of(one), one.connection, in_words(one.place), one.rule->sentence);
}

}  // namespace

std::string text_of_absent(const Known& known) {
  std::string text;
  for (const KnownFinding* one : known.absent)
    text += fmt::format("known, but did not occur: {}\n", shown_text(in_words(*one, known.findings.name())));
  return text;
}

std::string summary_of(const Report& report, bool strict, const Palette& palette) {
  std::string text;
  for (const ConnectionReport& connection : report.connections) text += connection_line(connection, strict, palette);
  for (const conformance::TlsReport& one : report.tls) {
    text += fmt::format(
        "{} {} -> {}{}: {}\n", palette.paint(Colour::kBold, fmt::format("connection {}:", one.info.number)),
        address_of(one.info.first), address_of(one.info.second), path_of(one.info), in_words(one.facts, false));
  }
  const std::size_t left_out = report.left_out.connections;
  if (left_out != 0) {
    text += fmt::format("{} more connection{}: {} not described (--max-connections), and counted below{}{}\n", left_out,
                        plural(left_out), left_out == 1 ? "is" : "are", report.left_out.coverage.whole() ? "" : "; ",
                        gaps_of(report.left_out));
  }
  for (const Broken& one : broken_rules(report)) text += rule_line(one, palette);
  return text;
}

}  // namespace weft::tools::audit
