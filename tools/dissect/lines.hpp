// SPDX-License-Identifier: Apache-2.0
// Parts of many colors as lines of a bounded width.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/dissect/part.hpp"

namespace weft::tools::dissect {

class Line {
 public:
  void add(Hue hue, const std::string& word);
  // In characters, as it is seen.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] std::string painted(const Palette& palette) const;

 private:
  Parts runs_{};  // of one color each, blanks included
  std::size_t width_ = 0;
};

// "Name: one thing, another thing", broken between parts; between words only of a part that is longer than `width`. A
// word that is longer stands alone in its line.
[[nodiscard]] std::vector<Line> lines_of(const Parts& parts, std::size_t width);

// "64 octets", "256 MiB".
[[nodiscard]] std::string size_text(std::uint64_t octets);

}  // namespace weft::tools::dissect
