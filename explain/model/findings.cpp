// SPDX-License-Identifier: Apache-2.0
#include "explain/model/findings.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "explain/model/model.hpp"

namespace weft::explain {
namespace {

using conformance::Finding;

bool holds(const Row& row, const Finding& finding) {
  const bool piece = row.kind == RowKind::kStartup || row.kind == RowKind::kFpdu;
  return piece && finding.direction == row.from && row.wire.stream_offset <= finding.stream_offset &&
         finding.stream_offset < row.wire.stream_offset + row.wire.size;
}

bool ends_in(const Row& row, const Finding& finding) {
  return row.packet == finding.place.packet && (!finding.direction || *finding.direction == row.from);
}

// The row with the wrong octets; else one of the packet in which it became certain.
FindingView placed(const Connection& connection, Finding finding) {
  FindingView view;
  const auto& rows = connection.rows;
  auto row = std::ranges::find_if(rows, [&](const Row& one) { return holds(one, finding); });
  if (row != rows.end()) {
    view.at = finding.stream_offset - row->wire.stream_offset;
    view.size = std::min(finding.excerpt.marked, row->wire.size - view.at);
  } else {
    row = std::ranges::find_if(rows, [&](const Row& one) { return ends_in(one, finding); });
  }
  if (row != rows.end()) view.row = static_cast<std::size_t>(row - rows.begin());
  view.finding = std::move(finding);
  return view;
}

}  // namespace

void place_findings(Connection& connection, std::vector<Finding> findings) {
  std::ranges::sort(findings, {}, [](const Finding& finding) {
    return std::tuple(finding.place.packet, finding.place.octet, finding.rule->clause);
  });
  for (Finding& finding : findings) {
    FindingView view = placed(connection, std::move(finding));
    if (view.row) connection.rows[*view.row].findings.push_back(connection.findings.size());
    connection.findings.push_back(std::move(view));
  }
}

}  // namespace weft::explain
