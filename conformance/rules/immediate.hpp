// SPDX-License-Identifier: Apache-2.0
// Rules on Immediate Data, RFC 7306 section 6.
#pragma once

#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

void judge_immediate(const Ulpdu& ulpdu, Findings& findings);

}  // namespace weft::conformance::rules
