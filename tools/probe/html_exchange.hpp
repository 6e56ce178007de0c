// SPDX-License-Identifier: Apache-2.0
// The exchanges of a case in the HTML report.
#pragma once

#include <string>

#include "probe/case.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// A fold for each connection: shut where the case has passed, and shorter then.
[[nodiscard]] std::string exchanges_of(const CaseResult& one);

}  // namespace weft::tools::probing
