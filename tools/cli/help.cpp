// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/help.hpp"

#include <algorithm>
#include <sstream>

namespace weft::tools {
namespace {

constexpr std::size_t kWidth = 100;

// Where the continuation of a line goes: below its first word, or below the description of an option or subcommand.
std::size_t hanging_indent(const std::string& line, std::size_t column) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const bool has_left_part = begin > 0 && begin < column;
  return has_left_part ? column : begin;
}

std::string wrap_line(std::string line, std::size_t width, std::size_t column) {
  const std::size_t indent = hanging_indent(line, column);
  std::string out;
  while (line.size() > width) {
    const std::size_t space = line.rfind(' ', width);
    if (space == std::string::npos || space <= indent) break;  // one long word
    out += line.substr(0, space) + '\n';
    line = std::string(indent, ' ') + line.substr(space + 1);
  }
  return out + line + '\n';
}

}  // namespace

std::string wrap(const std::string& text, std::size_t width, std::size_t column) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += wrap_line(line, width, column);
  return out;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  return wrap(CLI::Formatter::make_help(app, name, mode), kWidth, kColumn);
}

// The parser's own text names types and checks; the descriptions say that better.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return option->get_type_name();  // "[=FILE]", or nothing
  const std::string type = option->get_type_name();
  return ' ' + type.substr(0, type.find(':'));
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string standard = option->get_default_str();
  return option->get_description() + (standard.empty() ? "" : " (default " + standard + ")");
}

}  // namespace weft::tools
