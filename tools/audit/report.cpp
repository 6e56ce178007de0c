// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Direction;
using conformance::Finding;
using conformance::Severity;

namespace {

void add(std::vector<Broken>& all, const Finding& finding) {
  const auto found = std::ranges::find(all, finding.rule, &Broken::rule);
  const std::uint64_t known = finding.known ? 1 : 0;
  if (found != all.end()) {
    ++found->count;
    found->known += known;
  } else {
    all.push_back({finding.rule, 1, known, finding.connection, finding.place});
  }
}

void add(std::vector<Broken>& all, const ConnectionReport& connection) {
  for (const Finding& finding : connection.findings) add(all, finding);
  for (const auto& more : connection.suppressed) {
    // Others of this rule and direction are among the findings.
    const auto found = std::ranges::find(all, more.rule, &Broken::rule);
    if (found == all.end()) continue;
    found->count += more.count;
    if (more.known) found->known += more.count;
  }
}

void add(std::vector<Broken>& all, const Broken& more) {
  const auto found = std::ranges::find(all, more.rule, &Broken::rule);
  if (found == all.end()) {
    all.push_back(more);
    return;
  }
  found->count += more.count;
  found->known += more.known;
  if (more.place.packet < found->place.packet) {
    found->connection = more.connection;
    found->place = more.place;
  }
}

}  // namespace

void Counts::add(Severity severity, std::uint64_t count) {
  switch (severity) {
    case Severity::kViolation: violations += count; break;
    case Severity::kWarning: warnings += count; break;
    case Severity::kNote: notes += count; break;
  }
}

void Counts::add(const Counts& more) {
  violations += more.violations;
  warnings += more.warnings;
  notes += more.notes;
  known += more.known;
}

void Coverage::add(const Coverage& more) {
  read += more.read;
  missing += more.missing;
  unread += more.unread;
}

void LeftOut::take(const ConnectionReport& connection) {
  ++connections;
  coverage.add(coverage_of(connection));
  add(broken, connection);
}

void Report::take(ConnectionReport connection, std::size_t most) {
  if (connection.tls) note_hidden(connection.info, *connection.tls);
  if (connection.evicted) note_cut(connection.info, "checked", "too many connections at a time");
  if (connections.size() < most) {
    connections.push_back(std::move(connection));
  } else {
    left_out.take(connection);
  }
}

void Report::take_tls(const std::vector<conformance::TlsReport>& those, std::size_t all) {
  tls = those;
  tls_connections = all;
  for (const conformance::TlsReport& one : tls) note_hidden(one.info, one.facts);
}

void Report::note_cut(const conformance::ConnectionInfo& info, std::string_view done, std::string_view why) {
  if (damage.empty()) damage = fmt::format("{}: connection {} was not {} to its end: {}", file, info.number, done, why);
}

void Report::note_hidden(const conformance::ConnectionInfo& info, const conformance::TlsFacts& facts) {
  if (facts.keyed && !facts.hidden.empty()) note_cut(info, "decrypted", facts.hidden);
}

Counts counts_of(const ConnectionReport& connection) {
  Counts counts;
  const auto add = [&](const auto& each, std::uint64_t count, bool known) {
    if (known)
      counts.known += count;
    else
      counts.add(each.rule->severity, count);
  };
  for (const Finding& finding : connection.findings) add(finding, 1, finding.known.has_value());
  for (const auto& more : connection.suppressed) add(more, more.count, more.known);
  return counts;
}

Counts counts_of(const Report& report) {
  Counts counts;
  for (const Broken& one : broken_rules(report)) {
    counts.add(one.rule->severity, one.count - one.known);
    counts.known += one.known;
  }
  return counts;
}

Coverage coverage_of(const conformance::Tally& tally) {
  return {.read = tally.octets_read, .missing = tally.octets_missing, .unread = tally.octets_unread};
}

Coverage coverage_of(const ConnectionReport& connection) {
  Coverage both = coverage_of(connection.tally(Direction::kFromInitiator));
  both.add(coverage_of(connection.tally(Direction::kFromResponder)));
  return both;
}

Coverage coverage_of(const Report& report) {
  Coverage all = report.left_out.coverage;
  for (const ConnectionReport& connection : report.connections) all.add(coverage_of(connection));
  return all;
}

std::vector<Broken> broken_rules(const Report& report) {
  std::vector<Broken> all;
  for (const ConnectionReport& connection : report.connections) {
    std::vector<Broken> here;
    add(here, connection);
    for (const Broken& one : here) add(all, one);
  }
  for (const Broken& one : report.left_out.broken) add(all, one);
  std::ranges::sort(all, {}, [](const Broken& one) {
    return std::tuple(-static_cast<int>(one.rule->severity), one.place.packet, one.place.octet, one.rule->clause);
  });
  return all;
}

void mark_known(Finding& finding, KnownFindings& known) {
  if (const auto* one = known.covers(finding.rule->clause, who(finding.direction))) finding.known = one->reason;
}

void mark_known(ConnectionReport& connection, KnownFindings& known) {
  for (Finding& finding : connection.findings) mark_known(finding, known);
  for (auto& more : connection.suppressed) more.known = known.covers(more.rule->clause, who(more.direction)) != nullptr;
}

std::string_view who(const std::optional<Direction>& direction) noexcept {
  if (!direction) return "both";
  return *direction == Direction::kFromInitiator ? "initiator" : "responder";
}

}  // namespace weft::tools::audit
