// SPDX-License-Identifier: Apache-2.0
// --json[=FILE], the same in every command that has it.
#pragma once

#include <string>

#include "tools/cli/command.hpp"

namespace weft::tools {

// Adds the option. Its help is `what` and where the JSON goes. `file` becomes FILE, "-" for standard output, or stays
// empty without the option: the argument of write_report(). FILE follows "="; a separate word is an operand of the
// command.
CLI::Option* add_json_option(CLI::App& command, std::string& file, const std::string& what);

// Joins "--json report.json" to one word with "=". No operand of a command ends in ".json". To be called before the
// command line is parsed, without the words of a program that weft run starts: those are not changed.
void join_json_file(int& argc, char** argv);

}  // namespace weft::tools
