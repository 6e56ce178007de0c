// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/report.hpp"

#include <algorithm>
#include <utility>

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Direction;
using conformance::Finding;
using conformance::Severity;

void LeftOut::take(const ConnectionReport& connection) {
  ++connections;
  for (const Finding& finding : connection.findings) add(finding);
  for (const auto& more : connection.suppressed) {
    // Others of this rule and direction are in `findings`.
    const auto found = std::ranges::find(broken, more.rule, &Broken::rule);
    if (found != broken.end()) found->count += more.count;
  }
}

void LeftOut::add(const Finding& finding) {
  const auto found = std::ranges::find(broken, finding.rule, &Broken::rule);
  if (found != broken.end()) {
    ++found->count;
  } else {
    broken.push_back({finding.rule, 1, finding.connection, finding.place.packet});
  }
}

void Report::take(ConnectionReport connection, std::size_t most) {
  if (connections.size() < most) {
    connections.push_back(std::move(connection));
  } else {
    left_out.take(connection);
  }
}

std::size_t Report::count(Severity severity) const noexcept {
  std::size_t total = 0;
  for (const ConnectionReport& connection : connections) {
    total += static_cast<std::size_t>(std::ranges::count(
        connection.findings, severity, [](const Finding& finding) { return finding.rule->severity; }));
    for (const auto& more : connection.suppressed) {
      if (more.rule->severity == severity) total += more.count;
    }
  }
  for (const LeftOut::Broken& one : left_out.broken) {
    if (one.rule->severity == severity) total += one.count;
  }
  return total;
}

std::string_view who(const std::optional<Direction>& direction) noexcept {
  if (!direction) return "both";
  return *direction == Direction::kFromInitiator ? "initiator" : "responder";
}

}  // namespace weft::tools::audit
