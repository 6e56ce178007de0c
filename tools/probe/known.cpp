// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/known.hpp"

#include <algorithm>

#include "tools/probe/counts.hpp"

namespace weft::tools::probing {
namespace {

// The name, and for a combination each name that its own begins with.
const KnownFinding* found(KnownFindings& known, const Case& one, std::string_view end) {
  const KnownFinding* out = known.covers(one.name, end);
  if (!one.planned) return out;
  for (std::size_t dot = one.name.rfind('.'); dot != std::string_view::npos; dot = one.name.substr(0, dot).rfind('.')) {
    const KnownFinding* const shorter = known.covers(one.name.substr(0, dot), end);
    if (out == nullptr) out = shorter;
  }
  return out;
}

bool begins(const Case& one, std::string_view id) {
  return one.name == id || (one.planned && one.name.starts_with(std::string(id) + '.'));
}

}  // namespace

void mark_known(Report& report, KnownFindings known) {
  const std::string_view end = role_of(report);
  for (CaseResult& one : report.cases) {
    if (!is_trouble(one.verdict)) continue;
    if (const KnownFinding* const row = found(known, *one.what, end)) one.known = row->reason;
  }
  for (RuleResult& rule : report.rules) {
    if (!is_trouble(rule.verdict)) continue;
    if (const KnownFinding* const row = known.covers(rule.rule->clause, end)) rule.known = row->reason;
  }
  const auto ran = [&](std::string_view id) {
    const auto judged = [](const auto& one) { return one.verdict != Verdict::kNotApplicable; };
    return std::ranges::any_of(report.cases,
                               [&](const CaseResult& one) { return judged(one) && begins(*one.what, id); }) ||
           std::ranges::any_of(report.rules,
                               [&](const RuleResult& one) { return judged(one) && one.rule->clause == id; });
  };
  for (const KnownFinding* const one : known.absent(ran))
    report.known_absent.push_back({one->id, one->end, one->reason, one->line, tools::in_words(*one, known.name())});
}

}  // namespace weft::tools::probing
