// SPDX-License-Identifier: Apache-2.0
#include "conformance/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::conformance {

std::string hex(Bytes octets, std::size_t most) {
  std::string text;
  for (const std::byte octet : octets.first(std::min(octets.size(), most))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(octet));
  }
  return octets.size() > most ? text + " ..." : text;
}

std::string hex_digits(Bytes octets) {
  std::string text;
  text.reserve(2 * octets.size());
  for (const std::byte octet : octets) text += fmt::format("{:02x}", std::to_integer<unsigned>(octet));
  return text;
}

std::string hex_number(std::uint64_t value, std::size_t octets) {
  return fmt::format("{:#0{}x}", value, 2 + 2 * octets);
}

}  // namespace weft::conformance
