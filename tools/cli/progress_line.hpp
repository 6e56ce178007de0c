// SPDX-License-Identifier: Apache-2.0
// One line on the terminal that is replaced while work goes on and wiped at the end. Nothing where stderr is no
// terminal.
#pragma once

#include <string>

namespace weft::tools {

class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // Puts `text` there, cut to the terminal's width.
  void show(const std::string& text);
  // Before other lines are printed.
  void clear();

 private:
  bool drawn_ = false;
};

// Wipes the line that another process of ours was drawing.
void clear_progress_line();

}  // namespace weft::tools
