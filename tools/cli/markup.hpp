// SPDX-License-Identifier: Apache-2.0
// Text of any octets, a peer's too, in HTML and XML: shown_text(), and the characters that mean something escaped.
#pragma once

#include <string>
#include <string_view>

namespace weft::tools {

// Between tags: line feeds stay. Also in an attribute, where XML makes blanks of them.
[[nodiscard]] std::string escape(std::string_view text);
// In an attribute, with its line feeds.
[[nodiscard]] std::string attribute(std::string_view text);

}  // namespace weft::tools
