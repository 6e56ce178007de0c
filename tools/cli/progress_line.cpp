// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace weft::tools {
namespace {

constexpr std::size_t kUsualWidth = 80;

bool on_terminal() { return ::isatty(STDERR_FILENO) == 1; }

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kUsualWidth;
}

}  // namespace

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!on_terminal()) return;
  drawn_ = true;
  std::fprintf(stderr, "\r%s\033[K", text.substr(0, terminal_width() - 1).c_str());
}

void ProgressLine::clear() {
  if (!drawn_) return;
  drawn_ = false;
  clear_progress_line();
}

void clear_progress_line() {
  if (on_terminal()) std::fputs("\r\033[K", stderr);
}

}  // namespace weft::tools
