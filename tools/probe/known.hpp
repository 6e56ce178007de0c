// SPDX-License-Identifier: Apache-2.0
// --known FILE of weft probe: failures and warnings that are expected.
#pragma once

#include "probe/report.hpp"
#include "probe/runner.hpp"
#include "tools/cli/known_findings.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// Marks what the file names: a case by its name, combinations of the plan by the first labels of theirs ("crc.first"),
// a rule of the auditor by its clause. Notes in the report what did not occur, of what it has.
void mark_known(Report& report, KnownFindings known);

}  // namespace weft::tools::probing
