// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/markup.hpp"

#include "common/shown_text.hpp"

namespace weft::tools {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : shown_text(text, Lines::kSeveral)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string attribute(std::string_view text) {
  std::string out;
  for (const char c : escape(text)) out += c == '\n' ? std::string("&#10;") : std::string(1, c);
  return out;
}

}  // namespace weft::tools
