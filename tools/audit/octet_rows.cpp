// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/octet_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::tools::audit {
namespace {

constexpr std::size_t kRow = 16;
constexpr std::size_t kHexWidth = 3 * kRow + 1;  // "[00 00 ... 00]"

// One row, which begins at octets[begin].
struct RowText {
  std::string hex{};
  std::size_t width = 0;  // of hex, without the codes of colors
  std::string characters{};
};

RowText text_of_row(const OctetRows& rows, std::size_t begin, Colour colour, const Palette& palette) {
  RowText text;
  const std::size_t end = std::min(begin + kRow, rows.octets.size());
  const std::size_t mark_end = rows.mark + rows.marked;
  for (std::size_t at = begin; at < end; ++at) {
    const bool inside = at >= rows.mark && at < mark_end;
    const bool opens = inside && at == rows.mark;
    const bool closed = rows.marked != 0 && at == mark_end && at != begin;  // in the row before, otherwise
    const auto value = std::to_integer<unsigned char>(rows.octets[at]);
    const std::string character(1, value >= 0x20 && value < 0x7F ? static_cast<char>(value) : '.');
    const Palette paint = inside ? palette : Palette();
    text.hex += opens ? '[' : closed ? ']' : ' ';
    text.hex += paint.paint(colour, fmt::format("{:02x}", value));
    text.characters += paint.paint(colour, character);
    text.width += 3;
  }
  if (rows.marked != 0 && end == mark_end) {
    text.hex += ']';
    ++text.width;
  }
  return text;
}

}  // namespace

std::string rows_of(const OctetRows& rows, Colour colour, const Palette& palette) {
  std::string all;
  for (std::size_t begin = 0; begin < rows.octets.size(); begin += kRow) {
    const RowText text = text_of_row(rows, begin, colour, palette);
    const std::string space(kHexWidth - text.width, ' ');
    all += fmt::format("    {:08x} {}{}  {}\n", rows.first + begin, text.hex, space, text.characters);
  }
  return all;
}

}  // namespace weft::tools::audit
