// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/audit/exit_codes.hpp"
#include "tools/audit/tls_words.hpp"

namespace weft::tools::audit {
namespace {

std::string_view word_for(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNoViolation: return "NO VIOLATION";
    case Verdict::kNoIwarp: return "NO IWARP";
    case Verdict::kWarnings: return "WARNINGS";
    case Verdict::kViolations: return "VIOLATIONS";
    case Verdict::kIncomplete: return "INCOMPLETE CAPTURE";
    case Verdict::kUnread: return "NOT READ TO ITS END";
  }
  return {};
}

Colour colour_for(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNoViolation: return Colour::kGreen;
    case Verdict::kNoIwarp: return Colour::kYellow;
    default: return Colour::kRed;
  }
}

ExitCode exit_code_for(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNoViolation: return ExitCode::kSuccess;
    case Verdict::kNoIwarp: return kNoIwarp;
    case Verdict::kIncomplete:
    case Verdict::kUnread: return kUnreadable;
    default: return ExitCode::kFailure;
  }
}

std::string connections_in_words(const Report& report) {
  const auto broken = std::ranges::count_if(
      report.connections, [](const auto& connection) { return counts_of(connection).violations != 0; });
  const std::size_t all = report.iwarp_connections();
  // It is not known which of the omitted connections broke a rule.
  if (broken == 0 || report.left_out.connections != 0) return fmt::format("{} connection{}", all, plural(all));
  return fmt::format("{} of {} connection{}", broken, all, plural(all));
}

// Returns why there may be iWARP nevertheless: the first connection that uses TLS.
std::string tls_of(const Report& report) {
  if (report.tls.empty()) return "";
  const conformance::TlsReport& first = report.tls.front();
  return fmt::format(" (connection {} is {})", first.info.number, in_words(first.facts, false));
}

std::string silence_of(const Report& report) {
  if (report.silent_connections == 0) return "";
  return fmt::format(
      "; {} within one host carried no octets. If both ends are weft, the octets went through shared memory: capture "
      "with "
      "--pcap, or set WEFT_POLICY=same-host=off",
      report.silent_connections);
}

std::string what_was_found(const Report& report, Verdict verdict) {
  if (report.unread()) return report.damage;
  if (verdict == Verdict::kNoIwarp) {
    return fmt::format("no iWARP in {} TCP connection{}{}{}", report.tcp_connections, plural(report.tcp_connections),
                       tls_of(report), silence_of(report));
  }
  const Coverage coverage = coverage_of(report);
  const std::string found = in_words(counts_of(report)) + " in " + connections_in_words(report) +
                            (coverage.whole() ? "" : "; " + in_words(coverage));
  return verdict == Verdict::kUnread ? found + " before that: " + report.damage : found;
}

// Lists the reports with this verdict, each as `say` describes it.
template <typename Say>
std::string list_of(std::span<const Report> reports, bool strict, Verdict verdict, Say say) {
  std::string text;
  for (const Report& report : reports) {
    if (verdict_of(report, strict) == verdict) text += (text.empty() ? "" : "; ") + say(report);
  }
  return text;
}

std::string sentence_for(std::span<const Report> reports, bool strict, Verdict verdict) {
  if (verdict == Verdict::kUnread) {
    return list_of(reports, strict, verdict, [](const Report& report) { return report.damage; }) + ".";
  }
  if (verdict == Verdict::kNoIwarp) {
    return "no iWARP connection in " +
           list_of(reports, strict, verdict, [](const Report& report) { return report.file + tls_of(report); }) + ".";
  }
  if (verdict == Verdict::kIncomplete) {
    return "most octets of iWARP were not checked, because octets are missing from " +
           list_of(reports, strict, verdict, [](const Report& report) { return report.file; }) + ".";
  }
  Counts counts;
  for (const Report& report : reports) {
    for (const Broken& one : broken_rules(report)) counts.add(one.rule->severity, one.count);
  }
  const std::string warnings =
      strict ? fmt::format(", {} warning{}", counts.warnings, plural(counts.warnings)) : std::string();
  const std::string where = reports.size() == 1 ? reports.front().file : fmt::format("{} captures", reports.size());
  return fmt::format("{} violation{}{} in {}.", counts.violations, plural(counts.violations), warnings, where);
}

Verdict verdict_of(const Counts& counts, const Coverage& coverage, bool strict) noexcept {
  if (!coverage.enough()) return Verdict::kIncomplete;
  if (counts.violations != 0) return Verdict::kViolations;
  return strict && counts.warnings != 0 ? Verdict::kWarnings : Verdict::kNoViolation;
}

}  // namespace

Verdict verdict_of(const conformance::ConnectionReport& connection, bool strict) {
  return verdict_of(counts_of(connection), coverage_of(connection), strict);
}

Verdict verdict_of(const Report& report, bool strict) {
  if (!report.damage.empty()) return Verdict::kUnread;
  if (report.iwarp_connections() == 0) return Verdict::kNoIwarp;
  return verdict_of(counts_of(report), coverage_of(report), strict);
}

Verdict verdict_of(std::span<const Report> reports, bool strict) {
  auto worst = Verdict::kNoViolation;
  bool any_iwarp = false;
  for (const Report& report : reports) {
    const Verdict verdict = verdict_of(report, strict);
    if (verdict != Verdict::kNoIwarp) worst = std::max(worst, verdict);
    any_iwarp = any_iwarp || report.iwarp_connections() != 0;
  }
  return worst == Verdict::kNoViolation && !any_iwarp ? Verdict::kNoIwarp : worst;
}

std::string painted(Verdict verdict, const Palette& palette) {
  return palette.paint(colour_for(verdict), word_for(verdict));
}

std::string in_words(const Counts& counts) {
  return fmt::format("{} violation{}, {} warning{}, {} note{}{}", counts.violations, plural(counts.violations),
                     counts.warnings, plural(counts.warnings), counts.notes, plural(counts.notes),
                     counts.known == 0 ? "" : fmt::format(", {} known", counts.known));
}

std::string in_words(const Coverage& coverage) {
  if (coverage.missing == 0) return fmt::format("{} octet{} not checked", coverage.unread, plural(coverage.unread));
  return fmt::format("{} octet{} missing, {} not checked", coverage.missing, plural(coverage.missing), coverage.unread);
}

std::string gaps_of(const conformance::ConnectionReport& connection) {
  std::string text;
  for (const auto from : {conformance::Direction::kFromInitiator, conformance::Direction::kFromResponder}) {
    const Coverage coverage = coverage_of(connection.tally(from));
    if (!coverage.whole()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", who(from), in_words(coverage));
  }
  return text;
}

std::string gaps_of(const LeftOut& left_out) { return left_out.coverage.whole() ? "" : in_words(left_out.coverage); }

std::string known_part_of(const Broken& one) {
  if (one.known == 0) return {};
  return one.known == one.count ? std::string(" (all known)") : fmt::format(" ({} known)", one.known);
}

std::string verdict_line(const Report& report, bool strict, const Palette& palette) {
  const Verdict verdict = verdict_of(report, strict);
  return fmt::format("{}: {}\n", painted(verdict, palette), what_was_found(report, verdict));
}

std::string verdict_lines(std::span<const Report> reports, bool strict, const Palette& palette) {
  std::string text;
  Counts all;
  for (const Report& report : reports) {
    text += fmt::format("{}: {}", report.file, verdict_line(report, strict, palette));
    all.add(counts_of(report));
  }
  return text + fmt::format("{}: {} in {} captures\n", painted(verdict_of(reports, strict), palette), in_words(all),
                            reports.size());
}

Outcome<void> outcome_of(std::span<const Report> reports, bool strict) {
  const Verdict verdict = verdict_of(reports, strict);
  if (verdict == Verdict::kNoViolation) return {};
  return std::unexpected(Failure{sentence_for(reports, strict, verdict), exit_code_for(verdict)});
}

}  // namespace weft::tools::audit
