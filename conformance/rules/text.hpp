// SPDX-License-Identifier: Apache-2.0
// Octets and values as messages and dissections show them, where fmt alone does not write them so.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>

#include "common/wire.hpp"

namespace weft::conformance {

// "0a 00"; at most `most` octets, then "...".
[[nodiscard]] std::string hex(Bytes octets, std::size_t most = 16);

// "0x0a": two digits per octet of the type.
template <std::unsigned_integral T>
[[nodiscard]] std::string hex(T value) {
  return fmt::format("{:#0{}x}", value, 2 + 2 * sizeof(T));
}

}  // namespace weft::conformance
