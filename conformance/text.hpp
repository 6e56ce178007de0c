// SPDX-License-Identifier: Apache-2.0
// Octets and values as messages and dissections show them, where fmt alone does not write them so.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include "common/wire.hpp"

namespace weft::conformance {

// "0a 00"; at most `most` octets, then "...".
[[nodiscard]] std::string hex(Bytes octets, std::size_t most = 16);

// "0a00": all of them, for programs.
[[nodiscard]] std::string hex_digits(Bytes octets);

// "0x0a": two digits per octet of the type.
[[nodiscard]] std::string hex_number(std::uint64_t value, std::size_t octets);
// The same, with as many digits as the type has room for.
template <std::unsigned_integral T>
[[nodiscard]] std::string hex(T value) {
  return hex_number(value, sizeof value);
}

}  // namespace weft::conformance
