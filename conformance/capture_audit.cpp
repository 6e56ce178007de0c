// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture_audit.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::conformance {

namespace {

bool any_prefix(const std::vector<std::string>& prefixes, std::string_view clause) noexcept {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return clause.starts_with(prefix); });
}

}  // namespace

bool RuleFilter::takes(const Rule& rule) const noexcept {
  return (only.empty() || any_prefix(only, rule.clause)) && !any_prefix(skip, rule.clause);
}

CaptureAudit::CaptureAudit(RuleFilter filter, const TcpLimits& limits) : filter_(std::move(filter)), tcp_(limits) {}

void CaptureAudit::take(const Packet& packet) {
  ++packets_;
  tcp_.take(packet);
  drain();
}

void CaptureAudit::finish() {
  tcp_.finish();
  drain();
}

void CaptureAudit::drain() {
  while (const auto event = tcp_.next()) {
    if (const auto* over_event = std::get_if<ConnectionOver>(&event->event)) {
      over(event->connection, *over_event);
      continue;
    }
    auto& audit = live_[event->connection];
    if (audit == nullptr) {
      ++connections_seen_;
      audit = std::make_unique<ConnectionAudit>(event->connection);
    }
    audit->on(std::get<TcpEvent>(event->event));
  }
}

void CaptureAudit::over(std::size_t connection, const ConnectionOver& over) {
  const auto found = live_.find(connection);
  if (found == live_.end()) return;
  ConnectionAudit& audit = *found->second;
  audit.finish();
  if (audit.iwarp()) {
    ConnectionReport report{
        .info = over.info,
        .evicted = over.evicted,
        .roles_known = audit.roles_known(),
        .initiator = audit.initiator().value_or(End::kFirst),
        .rtr = audit.rtr(),
        .facts = audit.facts(),
        .tallies = {audit.tally(Direction::kFromInitiator), audit.tally(Direction::kFromResponder)}};
    std::ranges::copy_if(audit.findings().all(), std::back_inserter(report.findings),
                         [&](const Finding& finding) { return filter_.takes(*finding.rule); });
    std::ranges::copy_if(audit.findings().suppressed(), std::back_inserter(report.suppressed),
                         [&](const Findings::Suppressed& more) { return filter_.takes(*more.rule); });
    std::ranges::sort(report.findings, {}, [](const Finding& finding) {
      return std::tuple(finding.place.packet, finding.place.octet, finding.rule->clause);
    });
    done_.push_back(std::move(report));
  }
  live_.erase(found);
}

std::optional<ConnectionReport> CaptureAudit::next() {
  if (given_ == done_.size()) {
    done_.clear();
    given_ = 0;
    return std::nullopt;
  }
  return std::move(done_[given_++]);
}

}  // namespace weft::conformance
