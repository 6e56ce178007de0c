// SPDX-License-Identifier: Apache-2.0
// Fits text for people into the columns that are there.
#pragma once

#include <cstddef>
#include <string>

namespace weft::tools {

// Columns of the terminal that `descriptor` is, at least 20; 80 where it is no terminal.
[[nodiscard]] std::size_t text_width(int descriptor);

// Breaks the lines of `text` that are longer than `width` columns, at blanks. The rest of a line is indented by `hang`
// more columns than the line; or, where the line has two columns of text ("  --size N    octets of a message"), to the
// second one. A second column that begins right of the middle moves to a line of its own. Words longer than a line stay
// whole. Escape sequences of colors take no columns.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t hang = 0);

// The same for a report, for the terminal that is standard output: findings and what belongs to them hang by four.
// "    Again: " begins a command to copy, which stays whole.
[[nodiscard]] std::string wrapped_report(const std::string& text);

// A verdict, which programs look for in one line: wrapped on a terminal, whole elsewhere.
[[nodiscard]] std::string wrapped_verdict(const std::string& text);

}  // namespace weft::tools
