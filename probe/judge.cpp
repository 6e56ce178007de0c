// SPDX-License-Identifier: Apache-2.0
// One parser, one law: what the peer sent while the cases ran is judged by the rules of conformance/. What the prober sent was
// wrong on purpose, so its own breaches are left out.
#include <algorithm>

#include "conformance/connection_audit.hpp"
#include "probe/runner.hpp"

namespace weft::probe {
namespace {

using conformance::End;

// The exchange as a capture would show it: packets are numbered by its parts.
void feed(conformance::ConnectionAudit& audit, const Exchange& exchange) {
  audit.on(conformance::TcpOpened{.handshake_seen = true});
  std::array<std::uint64_t, 2> offsets{};
  std::uint64_t packet = 0;
  for (const Part& part : exchange.parts) {
    ++packet;
    const End from = part.from_peer == exchange.peer_opened ? End::kFirst : End::kSecond;
    std::uint64_t& offset = offsets[static_cast<std::size_t>(from)];
    switch (part.kind) {
      case Part::kOctets:
        audit.on(
            conformance::TcpOctets{.from = from, .octets = part.octets, .place = {packet, 0}, .stream_offset = offset});
        offset += part.octets.size();
        break;
      case Part::kFin: audit.on(conformance::TcpClosed{from, conformance::Closing::kFin, packet}); break;
      case Part::kReset:
        audit.on(conformance::TcpClosed{End::kFirst, conformance::Closing::kReset, packet});
        audit.on(conformance::TcpClosed{End::kSecond, conformance::Closing::kReset, packet});
        return;
    }
  }
}

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
    // Where the prober's start-up was wrong, roles and framing are guesses.
    if (exchange.cut || exchange.prober_breaks_startup) return;
    conformance::ConnectionAudit audit(0);
    feed(audit, exchange);
    audit.finish();
    const auto peer =
        exchange.peer_opened ? conformance::Direction::kFromInitiator : conformance::Direction::kFromResponder;
    seen_ = seen_ || audit.iwarp();
    for (const conformance::Finding& finding : audit.findings().all()) {
      if (finding.direction == peer) count(finding, case_index, exchange_index);
    }
  }
  std::vector<RuleResult> results() && {
    for (RuleResult& one : results_) {
      if (seen_ && one.breaches == 0) one.verdict = Verdict::kPass;
    }
    return std::move(results_);
  }

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
  bool seen_ = false;
};

}  // namespace

std::vector<RuleResult> judge(const std::vector<CaseResult>& cases) {
  Judge judge;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t j = 0; j < cases[i].exchanges.size(); ++j) judge.add(cases[i].exchanges[j], i, j);
  }
  return std::move(judge).results();
}

}  // namespace weft::probe
