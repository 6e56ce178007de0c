// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/text_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "common/shown_text.hpp"
#include "tools/cli/wrap.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/exchange_view.hpp"
#include "tools/probe/outcome.hpp"
#include "tools/probe/spot.hpp"

namespace weft::tools::probing {
namespace {

using TextOut = std::back_insert_iterator<std::string>;

constexpr std::size_t kExchangesShown = 4;
constexpr std::size_t kItemsShown = 12;
constexpr std::array kWorstTold{Verdict::kFail, Verdict::kWarn};
constexpr std::size_t kNamed = 40;  // names of further combinations of a rule

Colour colour_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kPass: return Colour::kGreen;
    case Verdict::kWarn: return Colour::kYellow;
    case Verdict::kFail: return Colour::kRed;
    case Verdict::kNotApplicable: return Colour::kDim;
  }
  return Colour::kBold;
}

// "fail MPA-4.4-19 (RFC 5044 section 4.4, MUST): crc-wrong-write", and what the RFC asks for.
void put_head(TextOut out, Verdict verdict, std::string_view clause, std::string_view name, const Palette& palette) {
  fmt::format_to(out, "{} {} ({}): {}\n", palette.paint(colour_of(verdict), probe::name(verdict)),
                 palette.paint(Colour::kBold, clause), place_of_clause(clause), name);
  if (const auto demand = demand_of(clause); !demand.empty()) fmt::format_to(out, "    The RFC: {}\n", demand);
}

void put_exchanges(TextOut out, const CaseResult& one) {
  const std::size_t count = one.exchanges.size();
  for (std::size_t i = 0; i < std::min(count, kExchangesShown); ++i) {
    fmt::format_to(out, "    Connection {}: {}\n", i + 1, short_text(view_of(one.exchanges[i]), kItemsShown));
  }
  if (count > kExchangesShown) fmt::format_to(out, "    and {} more connections\n", count - kExchangesShown);
}

// What is common to cases and rules.
void put_marks(TextOut out, const Verdicts& verdicts, const std::optional<std::string>& known) {
  if (const auto flaky = flaky_text(verdicts); !flaky.empty()) fmt::format_to(out, "    Unsteady: {}\n", flaky);
  if (known) fmt::format_to(out, "    Known: {}\n", known->empty() ? "yes" : shown_text(*known));
}

void put_case(TextOut out, const Report& report, const CaseResult& one, const Palette& palette) {
  put_head(out, one.verdict, one.what->clause, one.what->name, palette);
  fmt::format_to(out, "    The case: {}\n", one.what->what);
  if (!one.reason.empty()) fmt::format_to(out, "    What came: {}\n", shown_text(one.reason));
  if (const auto spot = spot_of(one)) fmt::format_to(out, "    About: {}\n", in_words(*spot));
  put_marks(out, one.verdicts, one.known);
  put_exchanges(out, one);
  fmt::format_to(out, "    Again: {}\n\n", shown_text(again(report, one.what->name)));
}

void put_rule(TextOut out, const Report& report, const RuleResult& rule, const Palette& palette) {
  put_head(out, rule.verdict, rule.rule->clause, "what the peer sent in all cases", palette);
  fmt::format_to(out, "    The rule: {}\n    Broken {} time{}", rule.rule->sentence, rule.breaches,
                 rule.breaches == 1 ? "" : "s");
  const CaseResult* const one = case_of(report, rule);
  if (one == nullptr) {
    fmt::format_to(out, "\n");
    put_marks(out, rule.verdicts, rule.known);
    fmt::format_to(out, "\n");
    return;
  }
  const auto spot = spot_of(report, rule);
  fmt::format_to(out, ", first in {}, {}: {}\n", one->what->name,
                 spot ? in_words(*spot) : fmt::format("connection {}", rule.exchange_index + 1),
                 shown_text(rule.first->message));
  put_marks(out, rule.verdicts, rule.known);
  if (const Exchange* const exchange = exchange_of(report, rule); exchange != nullptr)
    fmt::format_to(out, "    There: {}\n", short_text(view_of(*exchange), kItemsShown));
  fmt::format_to(out, "    Again: {}\n\n", shown_text(again(report, one->what->name)));
}

// Writes the cases with this verdict. Of each rule of the plan, only a few combinations are written in full.
void put_cases(TextOut out, const Report& report, Verdict verdict, Level level, const Palette& palette) {
  std::map<std::string_view, std::vector<const CaseResult*>> more;
  std::map<std::string_view, std::size_t> told;
  for (const CaseResult& one : report.cases) {
    if (one.verdict != verdict || level_of(one.what->clause) != level) continue;
    const std::string_view rule = probe::rule_of(*one.what);
    if (!rule.empty() && ++told[rule] > kOfRule)
      more[rule].push_back(&one);
    else
      put_case(out, report, one, palette);
  }
  for (const auto& [rule, cases] : more) {
    fmt::format_to(out, "{} {} more combination{} of {}:", palette.paint(colour_of(verdict), probe::name(verdict)),
                   cases.size(), cases.size() == 1 ? "" : "s", rule);
    for (std::size_t i = 0; i < std::min(cases.size(), kNamed); ++i) fmt::format_to(out, " {}", cases[i]->what->name);
    fmt::format_to(out, "{}\n\n", cases.size() > kNamed ? " ..." : "");
  }
}

void put_row(TextOut out, std::string_view name, const Counts& counts, const Palette& palette) {
  fmt::format_to(out, "{:52}", name);
  for (const Verdict verdict : kVerdicts) {
    const std::string number = fmt::format("{:>6}", counts.of(verdict));
    fmt::format_to(out, " {}", counts.of(verdict) == 0 ? number : palette.paint(colour_of(verdict), number));
  }
  fmt::format_to(out, "\n");
}

void put_table(TextOut out, const Report& report, const Palette& palette) {
  fmt::format_to(out, "{}\n",
                 palette.paint(Colour::kBold, fmt::format("{:52} {:>6} {:>6} {:>6} {:>6}", "cases by section", "pass",
                                                          "warn", "fail", "n/a")));
  for (const auto& [group, counts] : by_section(report)) put_row(out, name_of(group), counts, palette);
  for (const Level level : kLevels)
    put_row(out, fmt::format("cases and rules of {}", words_of(level)), of_level(report, level), palette);
  if (!report.rules.empty())
    put_row(out, "rules of weft audit, applied to what the peer sent", rules_of(report), palette);
}

// A sample that is cut must not look like a whole one.
void put_out_of_time(TextOut out, const Report& report) {
  const auto rules = out_of_time(report);
  if (rules.empty()) return;
  fmt::format_to(out, "not run, as the {} s for combinations of depth {} were over:", time_of(report.depth).count(),
                 name(report.depth));
  for (const OutOfTime& one : rules)
    fmt::format_to(out, "{} {} {} of {}", &one == &rules.front() ? "" : ",", one.rule, one.not_run, one.combinations);
  fmt::format_to(out, "\n\n");
}

}  // namespace

std::string text_of(const Report& report, bool strict, const Palette& palette) {
  std::string text;
  TextOut out(text);
  if (!report.title.empty()) fmt::format_to(out, "{}\n", palette.paint(Colour::kBold, shown_text(report.title)));
  fmt::format_to(out, "{}: profile {}, the peer is the MPA {}, depth {}, seed {}, {} ms\n", shown_text(report.target),
                 shown_text(report.profile), role_of(report), name(report.depth), report.seed, report.took.count());
  if (const auto took = std::chrono::ceil<std::chrono::milliseconds>(report.round_trip); took.count() >= 10)
    fmt::format_to(out, "the longest round trip took {} ms: silence had to last {} ms\n", took.count(),
                   report.quiet.count());
  if (!report.enhanced)
    fmt::format_to(out, "its startup is of {}: the cases that need RFC 6581 do not apply\n", startup_of(report));
  if (report.one_at_a_time)
    fmt::format_to(out, "it serves one connection at a time: the cases that need more do not apply\n");
  fmt::format_to(out, "\n");
  for (const Verdict verdict : kWorstTold) {
    for (const Level level : kLevels) {
      put_cases(out, report, verdict, level, palette);
      for (const RuleResult& rule : report.rules) {
        if (rule.verdict == verdict && level_of(rule.rule->clause) == level) put_rule(out, report, rule, palette);
      }
    }
  }
  for (const AbsentFinding& one : report.known_absent)
    fmt::format_to(out, "known, but did not occur: {}\n", shown_text(one.words));
  if (!report.known_absent.empty()) fmt::format_to(out, "\n");
  put_out_of_time(out, report);
  put_table(out, report, palette);
  return wrapped_report(text) + '\n' + wrapped_verdict(overall_line(report, strict, palette));
}

std::string progress_text(const CaseResult& result, std::size_t done, std::size_t all, const Palette& palette) {
  const std::size_t width = fmt::formatted_size("{}", all);
  const std::string word = result.verdict == Verdict::kNotApplicable ? "n/a " : std::string(name(result.verdict));
  return fmt::format("[{:>{}}/{}] {}  {} {}", done, width, all, palette.paint(colour_of(result.verdict), word),
                     result.what->clause, result.what->name);
}

}  // namespace weft::tools::probing
