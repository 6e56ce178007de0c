// SPDX-License-Identifier: Apache-2.0
#include "explain/model/json_text.hpp"

#include <fmt/format.h>

namespace weft::explain {
namespace {

// Octets of the UTF-8 character at the front; 0 when it is none. RFC 3629 section 4.
std::size_t character_size(std::string_view text) {
  const auto octet = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = octet(0);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xc2 ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (octet(i) >> 6 != 2) return 0;
  }
  const bool overlong = (first == 0xe0 && octet(1) < 0xa0) || (first == 0xf0 && octet(1) < 0x90);
  const bool outside = (first == 0xed && octet(1) > 0x9f) || (first == 0xf4 && octet(1) > 0x8f);
  return overlong || outside ? 0 : size;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const char front = text.front();
    if (size == 0) {
      out += "\\ufffd";
    } else if (front == '"' || front == '\\') {
      out += '\\';
      out += front;
    } else if (static_cast<unsigned char>(front) < 0x20 || front == '<') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(front));
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out + '"';
}

}  // namespace weft::explain
