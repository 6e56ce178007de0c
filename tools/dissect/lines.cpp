// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/lines.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

namespace weft::tools::dissect {

void Line::add(Hue hue, const std::string& word) {
  const std::string text = width_ == 0 ? word : ' ' + word;
  width_ += text.size();
  if (runs_.empty() || runs_.back().hue != hue) {
    runs_.push_back({hue, text});
  } else {
    runs_.back().text += text;
  }
}

std::string Line::painted(const Palette& palette) const {
  std::string text;
  for (const Part& run : runs_) text += paint(palette, run.hue, run.text);
  return text;
}

std::vector<Line> lines_of(const Parts& parts, std::size_t width) {
  std::vector<Line> lines(1);
  const auto has_room = [&](const std::string& text) {
    return lines.back().width() == 0 || lines.back().width() + 1 + text.size() <= width;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string text = parts[i].text + (i + 1 == parts.size() ? "" : i == 0 ? ":" : ",");
    if (!has_room(text) && text.size() <= width) lines.emplace_back();
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (!has_room(word)) lines.emplace_back();
      lines.back().add(parts[i].hue, word);
    }
  }
  return lines;
}

std::string size_text(std::uint64_t octets) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (octets < 10 * 1024) return fmt::format("{} octet{}", octets, octets == 1 ? "" : "s");
  auto value = static_cast<double>(octets) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

}  // namespace weft::tools::dissect
