// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/html_octets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/cli/markup.hpp"

namespace weft::tools::probing {
namespace {

using OctetsOut = std::back_insert_iterator<std::string>;

constexpr std::size_t kInRow = 16;
constexpr std::size_t kInField = 8;    // octets of a field that stand in its line
constexpr std::size_t kMostRows = 32;  // of one item; the captures have all of it

bool is_marked(const ViewItem& item, std::size_t at) {
  return std::ranges::any_of(item.marks, [&](const Span& mark) { return at >= mark.at && at - mark.at < mark.size; });
}

// The octets of `span` that are kept.
Span kept(const ViewItem& item, const Span& span) {
  const std::size_t at = std::min(span.at, item.octets.size());
  return {at, std::min(span.size, item.octets.size() - at)};
}

// "00 <mark>13</mark> ", filled up with blanks to `width` octets.
void put_hex(OctetsOut out, const ViewItem& item, const Span& span, std::size_t width) {
  for (std::size_t i = 0; i < span.size; ++i) {
    const std::string number = fmt::format("{:02x}", std::to_integer<unsigned>(item.octets[span.at + i]));
    fmt::format_to(out, fmt::runtime(is_marked(item, span.at + i) ? "<mark>{}</mark> " : "{} "), number);
  }
  fmt::format_to(out, "{:{}}", "", 3 * (width - std::min(width, span.size)));
}

void put_characters(OctetsOut out, const ViewItem& item, const Span& span) {
  std::string text;
  for (std::size_t i = 0; i < span.size; ++i) {
    const auto value = std::to_integer<unsigned char>(item.octets[span.at + i]);
    text += value >= 0x20 && value < 0x7F ? static_cast<char>(value) : '.';
  }
  fmt::format_to(out, " {}\n", escape(text));
}

// Returns a fold for a field that has more octets than fit a line.
std::string folded(const ViewItem& item, const conformance::Field& field) {
  return fmt::format("<details><summary>{}: {} octets</summary>{}</details>\n", escape(field.info->name), field.size,
                     rows_of(item, {field.at, field.size}));
}

void put_line(OctetsOut out, const ViewItem& item, const conformance::Field& field) {
  const bool fits = field.size <= kInField;
  const Span octets = kept(item, {field.at, fits ? field.size : kInField - 1});
  fmt::format_to(out, "{:>5}  ", fmt::format("+{}", field.at));
  put_hex(out, item, octets, fits ? kInField : kInField - 1);
  fmt::format_to(out, "{}{:5} {}", fits ? " " : "..  ", field.info->layer, escape(field.info->name));
  std::string blanks(16 - std::min<std::size_t>(16, field.info->name.size()), ' ');
  // For a long field, the fold has the octets.
  for (const std::string& words : {field.size > kInRow ? std::string() : field.value, field.meaning}) {
    if (!words.empty()) fmt::format_to(out, "{} {}", std::exchange(blanks, {}), escape(words));
  }
  fmt::format_to(out, "\n");
}

}  // namespace

std::string rows_of(const ViewItem& item, const Span& span) {
  const Span all = kept(item, span);
  std::string text = "<pre>";
  OctetsOut out(text);
  const std::size_t size = std::min(all.size, kInRow * kMostRows);
  for (std::size_t at = 0; at < size; at += kInRow) {
    const Span row{all.at + at, std::min(kInRow, size - at)};
    fmt::format_to(out, "{:>6}  ", fmt::format("+{}", row.at));
    put_hex(out, item, row, kInRow);
    put_characters(out, item, row);
  }
  if (size < span.size) fmt::format_to(out, "and {} more octets\n", span.size - size);
  return text + "</pre>\n";
}

std::string fields_of(const ViewItem& item) {
  std::string text = "<pre>";
  OctetsOut out(text);
  std::string long_ones;
  for (const conformance::Field& field : item.fields) {
    if (field.size == 0) continue;  // bits; the meaning of their octets tells them
    put_line(out, item, field);
    if (field.size > kInRow) long_ones += folded(item, field);
  }
  return text + "</pre>\n" + long_ones;
}

}  // namespace weft::tools::probing
