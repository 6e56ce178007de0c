// SPDX-License-Identifier: Apache-2.0
// What may stand on a command line of weft, for the shells' completions: the table behind --help, as plain data.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace weft::tools::completion {

// What an option, or a word that is none, stands for.
enum class Takes : std::uint8_t {
  kNothing,    // a flag
  kAnything,   // nothing that could be guessed
  kFile,       // a file's name
  kHost,       // a host's name or address
  kInterface,  // a network interface
  kWord,       // one of Value::words
  kList,       // some of them, separated by commas
};

struct Value {
  Takes takes = Takes::kNothing;
  std::vector<std::string> words{};
  bool may_lack = false;  // the option may stand alone, too
};

struct OptionRow {
  std::vector<std::string> names{};  // with their dashes
  std::string meaning{};             // the beginning of what --help says
  std::string value_name{};          // "FILE"
  Value value{};
};

struct CommandRow {
  std::string path{};  // "weft bench lat"
  std::string meaning{};
  std::vector<OptionRow> options{};  // with those of the commands above it, which it takes, too
  std::vector<CommandRow> subcommands{};
  Value operand{};      // words that are neither options nor subcommands; kNothing: there are none
  bool runs_program{};  // what stands behind "--" is a program and its arguments
  [[nodiscard]] std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

[[nodiscard]] CommandRow table_of(const CLI::App& app);

}  // namespace weft::tools::completion
