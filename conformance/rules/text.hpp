// SPDX-License-Identifier: Apache-2.0
// How values are written in messages: hexadecimal as on the wire, without 0x where octets stand in a row.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/wire.hpp"

namespace weft::conformance {

// "0a 00"; at most `most` octets, then "...".
[[nodiscard]] std::string hex(Bytes octets, std::size_t most = 16);
// "0x0a" with two digits per octet of the type.
template <std::unsigned_integral T>
[[nodiscard]] std::string hex(T value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (std::size_t shift = sizeof(T) * 8; shift > 0; shift -= 4) {
    text += kDigits[static_cast<std::size_t>(static_cast<std::uint64_t>(value) >> (shift - 4)) & 0xf];
  }
  return text;
}
[[nodiscard]] inline std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace weft::conformance
