// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/text.hpp"

#include <algorithm>

namespace weft::conformance {

std::string hex(Bytes octets, std::size_t most) {
  std::string text;
  for (const std::byte octet : octets.first(std::min(octets.size(), most))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(octet));
  }
  return octets.size() > most ? text + " ..." : text;
}

}  // namespace weft::conformance
