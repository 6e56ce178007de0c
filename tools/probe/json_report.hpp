// SPDX-License-Identifier: Apache-2.0
// The report for programs; docs/probe.schema.json describes it.
#pragma once

#include <string>

#include "probe/report.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

[[nodiscard]] std::string json_of(const Report& report, bool strict);

}  // namespace weft::tools::probing
