// SPDX-License-Identifier: Apache-2.0
// The report as JUnit's XML, for CI systems.
#pragma once

#include <string>

#include "probe/report.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// A suite of the cases, and one of the auditor's rules. A warning is a failed test only when `strict`; what is not
// applicable was skipped.
[[nodiscard]] std::string junit_of(const Report& report, bool strict);

}  // namespace weft::tools::probing
