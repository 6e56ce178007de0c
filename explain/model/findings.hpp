// SPDX-License-Identifier: Apache-2.0
// What the auditor found, put to the rows that it is about.
#pragma once

#include <vector>

#include "conformance/finding.hpp"

namespace weft::explain {

struct Connection;

/// Fills in Connection::findings and Row::findings.
void place_findings(Connection& connection, std::vector<conformance::Finding> findings);

}  // namespace weft::explain
