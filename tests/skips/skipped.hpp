// SPDX-License-Identifier: Apache-2.0
// The list of what was skipped: a line "program<TAB>case<TAB>reason" for each case. ctest names the file in WEFT_SKIPPED_CASES
// (weft_tells_skips in cmake/WeftSkips.cmake), and report.sh shows it.
#pragma once

#include <string>

namespace weft::test {

// False when ctest has asked for the list and it cannot be written. Without ctest there is no list.
bool tell_skipped(const std::string& name, const std::string& reason);

}  // namespace weft::test
