// SPDX-License-Identifier: Apache-2.0
#include "common/shown_text.hpp"

#include <algorithm>

namespace weft {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_plain(char c) noexcept { return c >= 0x20 && c < 0x7F; }

// Octets of the well-formed sequence at the front; 0: none is there, or one that is not shown.
std::size_t sequence_at_front(std::string_view text) noexcept {
  const auto octet = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const unsigned lead = octet(0);
  if (lead < 0x80) return is_plain(text.front()) || lead == '\n' ? 1 : 0;
  if (lead < 0xC0) return 0;  // the rest of a sequence without its front
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  std::uint32_t value = lead & (0xFFU >> (size + 1));
  for (std::size_t at = 1; at < size; ++at) {
    if ((octet(at) & 0xC0U) != 0x80) return 0;
    value = value << 6U | (octet(at) & 0x3FU);
  }
  const std::uint32_t least = size == 2   ? 0xA0
                              : size == 3 ? 0x800
                                          : 0x10000;  // U+0080 to U+009F are control characters
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  const bool none = (value & 0xFFFEU) == 0xFFFE;
  const bool line = value == 0x2028 || value == 0x2029;  // ends of lines, for some readers
  // Characters that turn the direction of what follows would let a peer rearrange the words around it.
  const bool turns = (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069) || value == 0x200E ||
                     value == 0x200F || value == 0x061C;
  return value < least || value > 0x10FFFF || surrogate || none || line || turns || lead >= 0xF8 ? 0 : size;
}

}  // namespace

std::string shown_text(std::string_view text, Lines lines) {
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t size = sequence_at_front(text);
    const bool blank = text.front() == '\n' && lines == Lines::kOne;
    out += blank ? std::string_view(" ") : size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

}  // namespace weft
