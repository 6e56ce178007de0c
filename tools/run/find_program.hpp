// SPDX-License-Identifier: Apache-2.0
// From the name of a command to its file.
#pragma once

#include <string>

#include "tools/cli/outcome.hpp"

namespace weft::tools::run {

// Where the shell would find `name`. Not found is exit code 127, found but not executable 126, as with a shell.
Outcome<std::string> find_program(const std::string& name);

}  // namespace weft::tools::run
