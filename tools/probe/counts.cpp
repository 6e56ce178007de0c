// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <numeric>

namespace weft::tools::probing {
namespace {

// As a shell takes it for one word.
std::string one_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:%@+=,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace

std::size_t Counts::all() const noexcept {
  return std::accumulate(by_verdict.begin(), by_verdict.end(), std::size_t{0});
}

Counts cases_of(const Report& report) {
  Counts counts;
  for (const CaseResult& one : report.cases) counts.add(one.verdict);
  return counts;
}

Counts rules_of(const Report& report) {
  Counts counts;
  for (const RuleResult& one : report.rules) counts.add(one.verdict);
  return counts;
}

std::map<SectionGroup, Counts> by_section(const Report& report) {
  std::map<SectionGroup, Counts> sections;
  for (const CaseResult& one : report.cases) sections[group_of(one.what->clause)].add(one.verdict);
  return sections;
}

std::vector<OutOfTime> out_of_time(const Report& report) {
  std::vector<OutOfTime> rules;
  for (const CaseResult& one : report.cases) {
    if (!one.what->planned) continue;
    const std::string_view rule = probe::rule_of(*one.what);
    if (rules.empty() || rules.back().rule != rule) rules.push_back({.rule = rule});
    ++rules.back().combinations;
    rules.back().not_run += one.out_of_time ? 1 : 0;
  }
  std::erase_if(rules, [](const OutOfTime& one) { return one.not_run == 0; });
  return rules;
}

Level level_of(std::string_view clause) {
  const ClauseText* const found = find_clause(clause);
  const bool weak = found != nullptr && (found->level.starts_with("SHOULD") || found->level == "MAY");
  return weak ? Level::kShould : Level::kMust;
}

std::string_view name(Level level) noexcept { return level == Level::kMust ? "MUST" : "SHOULD"; }

std::string_view words_of(Level level) noexcept {
  return level == Level::kMust ? "MUST, MUST NOT and facts" : "SHOULD, SHOULD NOT and MAY";
}

Counts of_level(const Report& report, Level level) {
  Counts counts;
  for (const CaseResult& one : report.cases) {
    if (level_of(one.what->clause) == level) counts.add(one.verdict);
  }
  for (const RuleResult& one : report.rules) {
    if (level_of(one.rule->clause) == level) counts.add(one.verdict);
  }
  return counts;
}

std::size_t known_of(const Report& report, Verdict verdict) {
  const auto known = [&](const auto& one) { return one.known && one.verdict == verdict; };
  return static_cast<std::size_t>(std::ranges::count_if(report.cases, known) +
                                  std::ranges::count_if(report.rules, known));
}

std::size_t flaky_of(const Report& report) {
  const auto flaky = [](const auto& one) { return probe::is_flaky(one.verdicts); };
  return static_cast<std::size_t>(std::ranges::count_if(report.cases, flaky) +
                                  std::ranges::count_if(report.rules, flaky));
}

std::string flaky_text(const Verdicts& verdicts) {
  if (!probe::is_flaky(verdicts)) return {};
  const unsigned runs = std::accumulate(verdicts.begin(), verdicts.end(), 0U);
  std::string text;
  for (const Verdict verdict : {Verdict::kFail, Verdict::kWarn, Verdict::kPass, Verdict::kNotApplicable}) {
    const unsigned count = verdicts[std::to_underlying(verdict)];
    if (count == 0) continue;
    text += text.empty() ? fmt::format("flaky: {} in {} of {} runs", name(verdict), count, runs)
                         : fmt::format(", {} in {}", name(verdict), count);
  }
  return text;
}

const CaseResult* case_of(const Report& report, const RuleResult& rule) {
  return rule.first && rule.case_index < report.cases.size() ? &report.cases[rule.case_index] : nullptr;
}

const Exchange* exchange_of(const Report& report, const RuleResult& rule) {
  const CaseResult* const one = case_of(report, rule);
  return one != nullptr && rule.exchange_index < one->exchanges.size() ? &one->exchanges[rule.exchange_index] : nullptr;
}

std::string in_words(const Counts& counts, std::string_view noun) {
  std::string text = fmt::format("{} {}{}: ", counts.all(), noun, counts.all() == 1 ? "" : "s");
  for (const Verdict verdict : kVerdicts)
    text += fmt::format("{}{} {}", verdict == kVerdicts.front() ? "" : ", ", counts.of(verdict), name(verdict));
  return text;
}

std::string_view role_of(const Report& report) noexcept { return report.listens ? "initiator" : "responder"; }

std::string startup_of(const Report& report) {
  return fmt::format("MPA revision {}, {}enhanced", report.revision, report.enhanced ? "" : "not ");
}

std::string again(const Report& report, std::string_view name) {
  return fmt::format("weft probe --profile {} --seed {} --only {} {}{}", one_word(report.profile), report.seed, name,
                     report.listens ? "--listen " : "", one_word(report.target));
}

std::string time_text(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm fields{};
  ::gmtime_r(&seconds, &fields);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

}  // namespace weft::tools::probing
