// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/progress_line.hpp"

#include <unistd.h>

#include <cstdio>

#include "tools/cli/wrap.hpp"

namespace weft::tools {
namespace {

bool on_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!on_terminal()) return;
  drawn_ = true;
  std::fprintf(stderr, "\r%s\033[K", text.substr(0, text_width(STDERR_FILENO) - 1).c_str());
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
