// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that can be sent to a vendor: it loads nothing and runs nothing.
#pragma once

#include <string>

#include "probe/report.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// Clause by clause what the RFC asks for, what was done, what came, and the octets of both, taken apart. Well-formed as
// XML, too. Bounded: of each case the first exchanges, of each exchange the first frames, of each frame the first
// octets.
[[nodiscard]] std::string html_of(const Report& report, bool strict);

}  // namespace weft::tools::probing
