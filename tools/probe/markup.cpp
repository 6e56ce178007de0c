// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/markup.hpp"

#include <cstdint>

namespace weft::tools::probing {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Octets of the well-formed sequence at the front (RFC 3629); 0: none is there. Not U+FFFE and U+FFFF, which XML refuses.
std::size_t sequence_at_front(std::string_view text) {
  const auto octet = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const unsigned lead = octet(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : lead == '\n' ? 1 : 0;
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
  // Letters that turn the direction of what follows would let a peer rearrange the words around it.
  const bool turns = (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
  return value < least || value > 0x10FFFF || surrogate || none || turns || lead >= 0xF8 ? 0 : size;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = sequence_at_front(text);
    out += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : shown(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace weft::tools::probing
