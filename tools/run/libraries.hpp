// SPDX-License-Identifier: Apache-2.0
// Where the drop-in libibverbs.so.1 and librdmacm.so.1 are.
#pragma once

#include <string>

#include "tools/cli/outcome.hpp"

namespace weft::tools::run {

// WEFT_LIBRARY_PATH, where that is set; else the folder that was installed, or built, with this command.
Outcome<std::string> find_libraries();

}  // namespace weft::tools::run
