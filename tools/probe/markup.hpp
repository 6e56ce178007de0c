// SPDX-License-Identifier: Apache-2.0
// Text of any octets, a peer's too, as HTML, XML and JSON may hold it.
#pragma once

#include <string>
#include <string_view>

#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// UTF-8 of letters that can be shown: each octet of another kind becomes U+FFFD, so do control characters but newlines.
[[nodiscard]] std::string shown(std::string_view text);
// The same with the five letters escaped that mean something in HTML and XML: between tags and in attributes.
[[nodiscard]] std::string escape(std::string_view text);

}  // namespace weft::tools::probing
