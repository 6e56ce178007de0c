// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/counts.hpp"

#include <fmt/format.h>

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
