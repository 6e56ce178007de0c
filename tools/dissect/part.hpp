// SPDX-License-Identifier: Apache-2.0
// A piece of a line that is of one layer, and the color of each layer: the same in the ladder and among the fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/colour.hpp"

namespace weft::tools::dissect {

enum class Hue : std::uint8_t { kTcp, kMpa, kDdp, kRdmap, kPayload, kTerminate, kRemark };

struct Part {
  Hue hue{};
  std::string text{};
};
using Parts = std::vector<Part>;

// Returns the color of a field's layer, as FieldInfo names it.
[[nodiscard]] Hue hue_of(std::string_view layer) noexcept;

[[nodiscard]] std::string paint(const Palette& palette, Hue hue, std::string_view text);

}  // namespace weft::tools::dissect
