// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/colour.hpp"

#include <unistd.h>

#include <cstdlib>

namespace weft::tools {
namespace {

// ECMA-48, "select graphic rendition".
constexpr std::string_view colour_code(Colour colour) noexcept {
  switch (colour) {
    case Colour::kBold: return "1";
    case Colour::kDim: return "2";
    case Colour::kRed: return "1;31";
    case Colour::kGreen: return "32";
    case Colour::kYellow: return "33";
    case Colour::kBlue: return "34";
    case Colour::kMagenta: return "35";
    case Colour::kCyan: return "36";
  }
  return "0";
}

std::string_view colour_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool colours_by_themselves(int descriptor) {
  if (!colour_variable("NO_COLOR").empty()) return false;
  const std::string_view forced = colour_variable("CLICOLOR_FORCE");
  if (!forced.empty() && forced != "0") return true;
  return ::isatty(descriptor) == 1 && colour_variable("TERM") != "dumb";
}

}  // namespace

std::string Palette::paint(Colour colour, std::string_view text) const {
  if (!coloured_ || text.empty()) return std::string(text);
  std::string painted = "\x1b[";
  painted.append(colour_code(colour)).append("m").append(text).append("\x1b[0m");
  return painted;
}

Palette palette_for(std::string_view choice, int descriptor) {
  return Palette(choice == "always" || (choice != "never" && colours_by_themselves(descriptor)));
}

}  // namespace weft::tools
