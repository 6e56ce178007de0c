// SPDX-License-Identifier: Apache-2.0
// Test data that shows where it comes from: no two neighbouring 256-octet blocks are alike, so a segment placed at the
// wrong offset, or left out, is seen.
#pragma once

#include <cstdint>
#include <optional>

#include "common/wire.hpp"

namespace weft::tools {

[[nodiscard]] constexpr std::byte pattern_octet(std::uint8_t seed, std::size_t offset) noexcept {
  return static_cast<std::byte>((offset * 31 + (offset >> 8) * 7 + (offset >> 16) * 3 + seed) & 0xff);
}

inline void fill_pattern(MutableBytes octets, std::uint8_t seed) noexcept {
  for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = pattern_octet(seed, i);
}

// The offset of the first octet that is not the pattern's; empty when all are.
[[nodiscard]] inline std::optional<std::size_t> first_difference(Bytes octets, std::uint8_t seed) noexcept {
  for (std::size_t i = 0; i < octets.size(); ++i) {
    if (octets[i] != pattern_octet(seed, i)) return i;
  }
  return std::nullopt;
}

}  // namespace weft::tools
