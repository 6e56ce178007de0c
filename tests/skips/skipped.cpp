// SPDX-License-Identifier: Apache-2.0
#include "tests/skips/skipped.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace weft::test {
namespace {

// In one line, and without the "SKIPPED: " that some reasons begin with.
std::string one_line(std::string_view words) {
  constexpr std::string_view kPrefix = "SKIPPED: ";
  if (words.starts_with(kPrefix)) words.remove_prefix(kPrefix.size());
  std::string line;
  for (const char c : words) {
    const bool blank = c == '\n' || c == '\t' || c == '\r' || c == ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line.empty() ? "no reason given" : line;
}

}  // namespace

// Programs run at the same time: what is appended by one write stays in one piece.
bool tell_skipped(const std::string& name, const std::string& reason) {
  const char* const path = std::getenv("WEFT_SKIPPED_CASES");
  if (path == nullptr || *path == '\0') return true;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const std::string line = std::string(program_invocation_short_name) + '\t' + name + '\t' + one_line(reason) + '\n';
  const bool whole = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(file);
  return whole;
}

}  // namespace weft::test
