// SPDX-License-Identifier: Apache-2.0
// Octets as rows of hexadecimal numbers and characters, some of them marked.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/cli/colour.hpp"

namespace weft::tools::audit {

struct OctetRows {
  std::uint64_t first{};  // what the number in front of a row counts, for octets[0]
  std::span<const std::byte> octets{};
  std::size_t mark{};    // octets[mark] and the next ones stand in brackets ..
  std::size_t marked{};  // .. up to this number of them; 0: none
};

// Rows of 16 octets as Wireshark shows them. The marked ones have brackets, and the color where there are colors.
[[nodiscard]] std::string rows_of(const OctetRows& rows, Colour colour, const Palette& palette);

}  // namespace weft::tools::audit
