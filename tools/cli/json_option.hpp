// SPDX-License-Identifier: Apache-2.0
// --json[=FILE], the same in every command that has it.
#pragma once

#include <string>

#include "tools/cli/command.hpp"

namespace weft::tools {

// Adds the option, which says `what` and where it goes. `file` is FILE, "-" for standard output, or empty when the option
// is not given: as write_report() takes it. FILE stands behind "=": a word that follows is an operand of the command.
CLI::Option* add_json_option(CLI::App& command, std::string& file, const std::string& what);

// Before the command line is parsed: makes "--json report.json" one word, as if it had "=". A word that ends in ".json" is
// no operand of any command.
void join_json_file(int& argc, char** argv);

}  // namespace weft::tools
