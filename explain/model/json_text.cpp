// SPDX-License-Identifier: Apache-2.0
#include "explain/model/json_text.hpp"

#include "common/shown_text.hpp"

namespace weft::explain {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : shown_text(text, Lines::kSeveral)) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '<': out += "\\u003c"; break;
      case '"':
      case '\\': out += '\\'; [[fallthrough]];
      default: out += c;
    }
  }
  return out + '"';
}

}  // namespace weft::explain
