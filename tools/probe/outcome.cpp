// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/outcome.hpp"

#include <fmt/format.h>

#include "common/shown_text.hpp"
#include "tools/probe/counts.hpp"

namespace weft::tools::probing {
namespace {

std::string_view word_of(Overall overall) noexcept {
  switch (overall) {
    case Overall::kNoFailure: return "NO FAILURE";
    case Overall::kNothing: return "NOTHING JUDGED";
    case Overall::kWarnings: return "WARNINGS";
    case Overall::kPeerGone: return "PEER GONE";
    case Overall::kFailures: return "FAILURES";
  }
  return {};
}

Colour colour_of(Overall overall) noexcept {
  switch (overall) {
    case Overall::kNoFailure: return Colour::kGreen;
    case Overall::kNothing: return Colour::kYellow;
    default: return Colour::kRed;
  }
}

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

Overall overall_of(const Report& report, bool strict) {
  const Counts cases = cases_of(report);
  const Counts rules = rules_of(report);
  const auto any = [&](Verdict verdict) { return cases.of(verdict) + rules.of(verdict) != 0; };
  if (any(Verdict::kFail)) return Overall::kFailures;
  if (report.gone) return Overall::kPeerGone;
  if (strict && any(Verdict::kWarn)) return Overall::kWarnings;
  return any(Verdict::kPass) || any(Verdict::kWarn) ? Overall::kNoFailure : Overall::kNothing;
}

std::string gone_text(const Report& report) {
  if (!report.gone) return {};
  const probe::PeerGone& gone = *report.gone;
  const std::string when = gone.after == nullptr ? "before the first case"
                                                 : fmt::format("after case {} ('{}')", gone.finished, gone.after->name);
  const bool one_client = report.profile == "rping" && !report.listens;
  return fmt::format("the peer stopped accepting connections {}: {}{}", when, shown_text(gone.reason),
                     one_client ? " (an rping server needs -P to serve more than one client)" : "");
}

std::string overall_line(const Report& report, bool strict, const Palette& palette) {
  const Overall overall = overall_of(report, strict);
  return fmt::format("{}: {}; {}{}{}\n", palette.paint(colour_of(overall), word_of(overall)),
                     in_words(cases_of(report), "case"), in_words(rules_of(report), "rule"),
                     report.interrupted ? "; interrupted before the last case" : "",
                     report.gone ? "; " + gone_text(report) : "");
}

Outcome<void> outcome_of(const Report& report, bool strict) {
  const Overall overall = overall_of(report, strict);
  if (overall == Overall::kNoFailure) return {};
  if (overall == Overall::kPeerGone) return no_peer(gone_text(report) + '.');
  if (overall == Overall::kNothing)
    return failure(
        fmt::format("no case applies to the peer at {} in the profile '{}'.", report.target, report.profile));
  const Counts cases = cases_of(report);
  const Counts rules = rules_of(report);
  std::string sentence =
      count_of(cases.of(Verdict::kFail), "failed case") + ", " + count_of(rules.of(Verdict::kFail), "broken rule");
  if (strict) sentence += ", " + count_of(cases.of(Verdict::kWarn) + rules.of(Verdict::kWarn), "warning");
  return failure(
      fmt::format("{} at {}{}.", sentence, report.target, report.gone ? "; " + gone_text(report) : std::string()));
}

}  // namespace weft::tools::probing
