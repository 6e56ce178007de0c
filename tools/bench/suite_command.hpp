// SPDX-License-Identifier: Apache-2.0
// `weft bench suite`.
#pragma once

#include "tools/cli/command.hpp"

namespace weft::tools::bench {

void add_suite_command(CLI::App& parent, Selection& selection);

}  // namespace weft::tools::bench
