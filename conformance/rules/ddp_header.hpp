// SPDX-License-Identifier: Apache-2.0
// Rules on the DDP header of one segment by itself, RFC 5041 sections 4.1 to 4.4.
#pragma once

#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

// Returns false when there is no header to read. A wrong version is told, and the header read as version 1: a wrong bit
// there is likelier than another layout.
bool judge_ddp_header(const FpduSeen& fpdu, Findings& findings);

}  // namespace weft::conformance::rules
