// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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
  const auto any = [&](Verdict verdict) {
    const std::size_t all = cases.of(verdict) + rules.of(verdict);
    return all != known_of(report, verdict);
  };
  if (any(Verdict::kFail)) return Overall::kFailures;
  if (report.gone) return Overall::kPeerGone;
  if (strict && any(Verdict::kWarn)) return Overall::kWarnings;
  const auto judged = [](const Counts& counts) { return counts.all() != counts.of(Verdict::kNotApplicable); };
  return judged(cases) || judged(rules) ? Overall::kNoFailure : Overall::kNothing;
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

namespace {

// "; of 3 failures 2 break a MUST and 1 a SHOULD; 1 of them is known; 2 flaky"
std::string remarks(const Report& report) {
  std::string text;
  const std::size_t failures = cases_of(report).of(Verdict::kFail) + rules_of(report).of(Verdict::kFail);
  const std::size_t warnings = cases_of(report).of(Verdict::kWarn) + rules_of(report).of(Verdict::kWarn);
  for (const auto& [verdict, count, noun] :
       {std::tuple(Verdict::kFail, failures, "failure"), std::tuple(Verdict::kWarn, warnings, "warning")}) {
    if (count == 0) continue;
    text += fmt::format("; {}: {} of MUST, {} of SHOULD", count_of(count, noun),
                        of_level(report, Level::kMust).of(verdict), of_level(report, Level::kShould).of(verdict));
    if (const std::size_t known = known_of(report, verdict); known != 0) text += fmt::format(", {} known", known);
  }
  if (const std::size_t flaky = flaky_of(report); flaky != 0) text += fmt::format("; {} flaky", flaky);
  const auto not_run = std::ranges::count_if(report.cases, &probe::CaseResult::out_of_time);
  if (not_run != 0)
    text += fmt::format("; {} not run: the time was over", count_of(static_cast<std::size_t>(not_run), "combination"));
  if (report.runs > 1) text += fmt::format("; {} runs", report.runs);
  return text;
}

}  // namespace

std::string overall_line(const Report& report, bool strict, const Palette& palette) {
  const Overall overall = overall_of(report, strict);
  return fmt::format("{}: {}; {}{}{}{}\n", palette.paint(colour_of(overall), word_of(overall)),
                     in_words(cases_of(report), "case"), in_words(rules_of(report), "rule"), remarks(report),
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
  const auto news = [](const auto& list, Verdict verdict) {
    return static_cast<std::size_t>(
        std::ranges::count_if(list, [&](const auto& one) { return one.verdict == verdict && !one.known; }));
  };
  std::string sentence = count_of(news(report.cases, Verdict::kFail), "failed case") + ", " +
                         count_of(news(report.rules, Verdict::kFail), "broken rule");
  if (strict) {
    const std::size_t warnings = news(report.cases, Verdict::kWarn) + news(report.rules, Verdict::kWarn);
    sentence += ", " + count_of(warnings, "warning");
  }
  return failure(
      fmt::format("{} at {}{}.", sentence, report.target, report.gone ? "; " + gone_text(report) : std::string()));
}

}  // namespace weft::tools::probing
