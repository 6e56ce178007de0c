// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "probe/report.hpp"

namespace weft::probe {
namespace {

// The worst first.
unsigned badness(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNotApplicable: return 0;
    case Verdict::kPass: return 1;
    case Verdict::kWarn: return 2;
    case Verdict::kFail: return 3;
  }
  return 0;
}

template <typename Result>
void count(Result& all, Verdict verdict) {
  ++all.verdicts[std::to_underlying(verdict)];
}
// A run whose time was over has no verdict of the case: it makes none unsteady.
void count(CaseResult& all, const CaseResult& one) {
  if (!one.out_of_time) count(all, one.verdict);
}

// Returns, for each broken rule, the connection that shows it.
std::vector<std::optional<Exchange>> first_breaches(const Report& report) {
  std::vector<std::optional<Exchange>> out(report.rules.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const RuleResult& rule = report.rules[i];
    if (!rule.first || rule.case_index >= report.cases.size()) continue;
    const auto& exchanges = report.cases[rule.case_index].exchanges;
    if (rule.exchange_index < exchanges.size()) out[i] = exchanges[rule.exchange_index];
  }
  return out;
}

// A further run of a case. The connections of the earlier one stay where a rule names them.
void put(Report& all, std::size_t place, CaseResult one) {
  CaseResult& same = all.cases[place];
  count(same, one);
  const bool first_to_begin = same.out_of_time && !one.out_of_time;
  if (!first_to_begin && badness(one.verdict) <= badness(same.verdict)) return;
  const std::size_t before = one.exchanges.size();
  std::ranges::move(same.exchanges, std::back_inserter(one.exchanges));
  one.verdicts = same.verdicts;
  same = std::move(one);
  for (RuleResult& rule : all.rules) {
    if (rule.first && rule.case_index == place) rule.exchange_index += before;
  }
}

}  // namespace

Report merge(std::vector<Report> runs) {
  Report all = std::move(runs.front());
  all.runs = static_cast<unsigned>(runs.size());
  if (runs.size() == 1) return all;
  for (CaseResult& one : all.cases) count(one, one);
  for (RuleResult& rule : all.rules) count(rule, rule.verdict);
  for (auto next = runs.begin() + 1; next != runs.end(); ++next) {
    all.took += next->took;
    all.round_trip = std::max(all.round_trip, next->round_trip);
    all.quiet = std::max(all.quiet, next->quiet);
    all.interrupted |= next->interrupted;
    if (!all.gone) all.gone = next->gone;
    const auto firsts = first_breaches(*next);
    std::vector<std::size_t> moved;  // where each of its cases went
    std::size_t place = 0;
    for (CaseResult& one : next->cases) {
      while (all.cases[place].what != one.what) ++place;
      moved.push_back(place);
      put(all, place, std::move(one));
    }
    for (std::size_t i = 0; i < std::min(all.rules.size(), next->rules.size()); ++i) {
      RuleResult& same = all.rules[i];
      RuleResult& one = next->rules[i];
      same.breaches += one.breaches;
      count(same, one.verdict);
      if (badness(one.verdict) <= badness(same.verdict)) continue;
      same.verdict = one.verdict;
      if (!firsts[i]) continue;
      same.first = std::move(one.first);
      same.case_index = moved[one.case_index];
      same.exchange_index = all.cases[same.case_index].exchanges.size();
      all.cases[same.case_index].exchanges.push_back(*firsts[i]);
    }
  }
  return all;
}

}  // namespace weft::probe
