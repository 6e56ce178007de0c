// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/wrap.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace weft::tools {
namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kLeastWidth = 20;
constexpr std::size_t kIndent = 2;  // of a first column
constexpr std::size_t kHang = 4;    // of reports, and of a second column on a line of its own

// Length of the character or escape sequence that `text` begins with, and the columns that it takes.
struct Step {
  std::size_t length = 1;
  std::size_t columns = 1;
};

Step step_of(std::string_view text) {
  if (text.front() == '\033') {
    const std::size_t end = text.find('m');
    return {end == std::string_view::npos ? text.size() : end + 1, 0};
  }
  const bool continues = (static_cast<unsigned char>(text.front()) & 0xc0U) == 0x80;  // UTF-8
  return {1, continues ? 0U : 1U};
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Step step = step_of(text);
    columns += step.columns;
    text.remove_prefix(step.length);
  }
  return columns;
}

// The octet at which column `column` begins.
std::size_t at_column(std::string_view text, std::size_t column) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Step step = step_of(text.substr(at));
    if (step.columns > column) break;
    column -= step.columns;
    at += step.length;
  }
  return at;
}

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// The line's second column: what follows the first two blanks or more.
struct Gap {
  std::size_t begin{};
  std::size_t end{};
};

Gap gap_in(std::string_view line) {
  const std::size_t begin = line.find("  ", indent_of(line));
  if (begin == std::string_view::npos) return {line.size(), line.size()};
  return {begin, std::min(line.find_first_not_of(' ', begin), line.size())};
}

// The second column of the line before, on a line of its own. Too far right, it moves left.
std::string moved_left(const std::string& line, std::size_t width) {
  const std::size_t indent = indent_of(line);
  if (indent <= width / 2 || columns_of(line) <= width) return line;
  return std::string(kIndent + kHang, ' ') + line.substr(indent);
}

std::string wrap_line(std::string line, std::size_t width, std::size_t hang) {
  std::string out;
  line = moved_left(line, width);
  const Gap gap = gap_in(line);
  std::size_t indent = indent_of(line) + hang;
  if (gap.end < line.size() && columns_of(line) > width) {
    if (columns_of(line.substr(0, gap.end)) > width / 2) {
      out = wrap_line(line.substr(0, gap.begin), width, hang);
      indent = indent_of(line) + kHang;
      line = std::string(indent, ' ') + line.substr(gap.end);
    } else {
      indent = columns_of(line.substr(0, gap.end));
    }
  }
  while (columns_of(line) > width) {
    const std::size_t limit = at_column(line, width);
    std::size_t space = line.rfind(' ', limit);
    if (space == std::string::npos || space < indent_of(line))
      space = line.find(' ', std::max(limit, indent_of(line)));  // after a long word
    const std::size_t next = line.find_first_not_of(' ', space);
    if (next == std::string::npos) break;
    out += line.substr(0, line.find_last_not_of(' ', space) + 1) + '\n';
    line = std::string(indent, ' ') + line.substr(next);
  }
  return out + line + '\n';
}

}  // namespace

std::size_t text_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return std::max<std::size_t>(size.ws_col, kLeastWidth);
}

std::string wrap(const std::string& text, std::size_t width, std::size_t hang) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += wrap_line(line, width, hang);
  return out;
}

std::string wrapped_report(const std::string& text) {
  const std::size_t width = text_width(STDOUT_FILENO);
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const bool command = line.starts_with("    Again: ");
    out += command ? line + '\n' : wrap_line(line, width, kHang);
  }
  return out;
}

std::string wrapped_verdict(const std::string& text) {
  return ::isatty(STDOUT_FILENO) == 1 ? wrapped_report(text) : text;
}

}  // namespace weft::tools
