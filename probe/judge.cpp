// SPDX-License-Identifier: Apache-2.0
// One parser, one law: what the peer sent while the cases ran is judged by the rules of conformance/. What the prober
// sent was wrong on purpose, so its own breaches are left out.
#include <algorithm>

#include "conformance/connection_audit.hpp"
#include "probe/exchange_events.hpp"
#include "probe/rule_needs.hpp"
#include "probe/runner.hpp"

namespace weft::probe {
namespace {

Verdict verdict_of(conformance::Severity severity) noexcept {
  return severity == conformance::Severity::kViolation ? Verdict::kFail : Verdict::kWarn;
}

class Judge {
 public:
  Judge() {
    for (const conformance::Rule* rule : conformance::all_rules())
      results_.push_back({.rule = rule, .verdict = Verdict::kNotApplicable});
  }
  void add(const Exchange& exchange, std::size_t case_index, std::size_t exchange_index) {
    // Where the prober's startup was wrong, roles and framing are guesses.
    if (exchange.cut || exchange.prober_breaks_startup) return;
    conformance::ConnectionAudit audit(0);
    for_each_event(exchange, [&](const conformance::TcpEvent& event) { audit.on(event); });
    audit.finish();
    const auto peer =
        exchange.peer_opened ? conformance::Direction::kFromInitiator : conformance::Direction::kFromResponder;
    for (RuleResult& one : results_) {
      if (one.verdict == Verdict::kNotApplicable && had_something(*one.rule, audit, peer)) one.verdict = Verdict::kPass;
    }
    for (const conformance::Finding& finding : audit.findings().all()) {
      if (finding.direction == peer) count(finding, case_index, exchange_index);
    }
  }
  std::vector<RuleResult> results() && { return std::move(results_); }

 private:
  void count(const conformance::Finding& finding, std::size_t case_index, std::size_t exchange_index) {
    if (finding.rule->severity == conformance::Severity::kNote) return;
    const auto one = std::ranges::find(results_, finding.rule, &RuleResult::rule);
    if (one == results_.end()) return;
    one->verdict = verdict_of(finding.rule->severity);
    if (++one->breaches > 1) return;
    one->first = finding;
    one->case_index = case_index;
    one->exchange_index = exchange_index;
  }
  std::vector<RuleResult> results_{};
};

}  // namespace

std::vector<RuleResult> judge(const std::vector<CaseResult>& cases) {
  Judge judge;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].peer_ended) continue;
    for (std::size_t j = 0; j < cases[i].exchanges.size(); ++j) judge.add(cases[i].exchanges[j], i, j);
  }
  return std::move(judge).results();
}

}  // namespace weft::probe
