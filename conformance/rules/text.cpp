// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/text.hpp"

#include <algorithm>

namespace weft::conformance {

std::string hex(Bytes octets, std::size_t most) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte octet : octets.first(std::min(octets.size(), most))) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<std::size_t>(octet >> 4)];
    text += kDigits[std::to_integer<std::size_t>(octet & std::byte{0xf})];
  }
  return octets.size() > most ? text + " ..." : text;
}

}  // namespace weft::conformance
