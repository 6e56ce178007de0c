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

CaptureAudit::CaptureAudit(RuleFilter filter, const TcpLimits& limits, KeyLog* keys)
    : filter_(std::move(filter)), tcp_(limits), keys_(keys) {}

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
    if (const auto* tcp = std::get_if<TcpEvent>(&event->event)) {
      on(event->connection, *tcp);
    } else if (const auto found = live_.find(event->connection); found != live_.end()) {
      report(found->second, std::get<ConnectionOver>(event->event));
      live_.erase(found);
    }
  }
}

// A connection whose first event comes when it is over is decided at its report.
void CaptureAudit::decide(Live& live, const ConnectionInfo& info) {
  if (std::exchange(live.decided, true)) return;
  if (selection_.takes(info))
    ++connections_seen_;
  else
    live.audit.reset();
}

// The octets that wait, not the connections, are what a capture can make many of: compressed, they cost it nothing.
void CaptureAudit::bound_octets(Live& live, std::size_t connection) {
  const std::size_t now = live.audit->held() + live.tls.held();
  held_ += now - live.held;
  live.held = now;
  const ConnectionInfo* const info = held_ > most_held_ && now > 0 ? tcp_.info(connection) : nullptr;
  if (info != nullptr) report(live, {.info = *info, .evicted = true});
}

void CaptureAudit::on(std::size_t connection, const TcpEvent& event) {
  auto found = live_.find(connection);
  if (found == live_.end())
    found = live_.emplace(connection, Live{std::make_unique<ConnectionAudit>(connection), TlsLayer(keys_)}).first;
  Live& live = found->second;
  const ConnectionInfo* info = live.decided && tell_ == nullptr ? nullptr : tcp_.info(connection);
  if (info != nullptr) decide(live, *info);
  if (live.audit == nullptr) return;  // not selected, or a late copy of what it had sent
  if (const auto* opened = std::get_if<TcpOpened>(&event)) live.whole = opened->handshake_seen;
  if (std::holds_alternative<TcpOctets>(event) || std::holds_alternative<TcpGap>(event)) live.has_octets = true;
  live.tls.feed(event);
  live.judge();
  bound_octets(live, connection);
  if (live.audit == nullptr || info == nullptr || tell_ == nullptr) return;
  tell(live, *info);
  if (std::holds_alternative<TcpClosed>(event) && ++live.ends_closed == 2) report(live, {.info = *info});
}

void CaptureAudit::Live::judge() {
  while (const TcpEvent* clear = tls.next()) audit->on(*clear);
}

void CaptureAudit::tell(Live& live, const ConnectionInfo& info) const {
  const auto& findings = live.audit->findings().all();
  if (live.told == findings.size() || !live.audit->iwarp()) return;
  for (; live.told < findings.size(); ++live.told) {
    if (filter_.takes(*findings[live.told].rule)) tell_(findings[live.told], info);
  }
}

void CaptureAudit::report(Live& live, const ConnectionOver& over) {
  decide(live, over.info);
  if (live.audit == nullptr) return;
  ConnectionAudit& audit = *live.audit;
  live.tls.finish();
  live.judge();
  audit.finish();
  if (tell_ != nullptr) tell(live, over.info);
  constexpr std::uint64_t kHandshake = 3;  // packets; a connection that was refused has two
  const bool silent = live.whole && !live.has_octets && over.info.packets >= kHandshake;
  if (silent && over.info.first.address == over.info.second.address) ++silent_seen_;
  const TlsFacts* const tls = live.tls.tls();
  if (audit.iwarp()) {
    ConnectionReport report{
        .info = over.info,
        .evicted = over.evicted,
        .roles_known = audit.roles_known(),
        .initiator = audit.initiator().value_or(End::kFirst),
        .rtr = audit.rtr(),
        .facts = audit.facts(),
        .tls = tls == nullptr ? std::nullopt : std::optional(*tls),
        .tallies = {audit.tally(Direction::kFromInitiator), audit.tally(Direction::kFromResponder)}};
    std::ranges::copy_if(audit.findings().all(), std::back_inserter(report.findings),
                         [&](const Finding& finding) { return filter_.takes(*finding.rule); });
    std::ranges::copy_if(audit.findings().suppressed(), std::back_inserter(report.suppressed),
                         [&](const Findings::Suppressed& more) { return filter_.takes(*more.rule); });
    std::ranges::sort(report.findings, {}, [](const Finding& finding) {
      return std::tuple(finding.place.packet, finding.place.octet, finding.rule->clause);
    });
    done_.push_back(std::move(report));
  } else if (tls != nullptr) {
    ++tls_seen_;
    if (tls_.size() < kMostTls) tls_.push_back({over.info, *tls});
  }
  live.audit.reset();
  live.tls = TlsLayer(nullptr);
  held_ -= std::exchange(live.held, 0);
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
