// SPDX-License-Identifier: Apache-2.0
// Every subcommand, as the help texts name them.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "command.hpp"

namespace weft::test {

using Arguments = std::vector<std::string>;

struct Subcommand {
  Arguments words;
  std::string help;
};

// The lines of a part of a help text, "Options:" say: up to the next empty line.
inline std::vector<std::string> lines_of(const std::string& help, const std::string& part) {
  std::vector<std::string> lines;
  std::istringstream text(help.substr(std::min(help.find('\n' + part + '\n'), help.size())));
  std::string line;
  for (std::getline(text, line), std::getline(text, line); std::getline(text, line) && !line.empty();)
    lines.push_back(line);
  return lines;
}

// What stands in their first columns.
inline std::vector<std::string> entries(const std::string& help, const std::string& part) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(help, part)) {
    if (line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find("  ", 2) - 2));
  }
  return names;
}

// `above`, the subcommands of it, and theirs.
inline std::vector<Subcommand> all_subcommands(const Arguments& above = {}) {
  Arguments words = above;
  words.emplace_back("--help");
  std::vector<Subcommand> all{{above, run(words).out}};
  for (const char* part : {"Subcommands:", "Help:"}) {
    for (const std::string& name : entries(all.front().help, part)) {
      Arguments below = above;
      below.push_back(name);
      for (Subcommand& each : all_subcommands(below)) all.push_back(std::move(each));
    }
  }
  return all;
}

}  // namespace weft::test
