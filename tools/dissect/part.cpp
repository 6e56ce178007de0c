// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/part.hpp"

namespace weft::tools::dissect {
namespace {

constexpr Colour colour_of(Hue hue) noexcept {
  switch (hue) {
    case Hue::kTcp: return Colour::kDim;
    case Hue::kMpa: return Colour::kCyan;
    case Hue::kDdp: return Colour::kBlue;
    case Hue::kRdmap: return Colour::kMagenta;
    case Hue::kPayload: return Colour::kGreen;
    case Hue::kTerminate: return Colour::kRed;
    case Hue::kRemark: return Colour::kYellow;
  }
  return Colour::kDim;
}

}  // namespace

Hue hue_of(std::string_view layer) noexcept {
  if (layer == "mpa" || layer == "weft") return Hue::kMpa;
  if (layer == "ddp") return Hue::kDdp;
  return layer == "rdmap" ? Hue::kRdmap : Hue::kPayload;
}

std::string paint(const Palette& palette, Hue hue, std::string_view text) {
  return palette.paint(colour_of(hue), text);
}

}  // namespace weft::tools::dissect
