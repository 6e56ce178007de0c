// SPDX-License-Identifier: Apache-2.0
// Colours in text for people: on a terminal, unless the user says otherwise. What programs read (JSON, XML) has none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::tools {

enum class Colour : std::uint8_t { kBold, kDim, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

class Palette {
 public:
  Palette() = default;  // without colors
  explicit Palette(bool coloured) noexcept : coloured_(coloured) {}

  [[nodiscard]] bool coloured() const noexcept { return coloured_; }
  // The text in this color, or as it is. Codes count as characters, so pad before this.
  [[nodiscard]] std::string paint(Colour colour, std::string_view text) const;

 private:
  bool coloured_ = false;
};

// What goes to `descriptor` when --color says `choice`: always, never or auto. auto means colors on a terminal that
// has them (TERM is not "dumb"). The environment decides where it speaks: NO_COLOR (not empty) against them,
// CLICOLOR_FORCE (neither empty nor 0) for them, the first before the second.
[[nodiscard]] Palette palette_for(std::string_view choice, int descriptor);

}  // namespace weft::tools
