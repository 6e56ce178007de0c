// SPDX-License-Identifier: Apache-2.0
// What was built, and how: for `weft --version` and `weft info`.
#pragma once

#include <string>
#include <string_view>

namespace weft::tools {

[[nodiscard]] std::string version_text();        // "weft 0.1.0"
[[nodiscard]] std::string_view compiler_name();  // "GCC 12.2.0"
[[nodiscard]] std::string_view build_type();     // "Release"
[[nodiscard]] bool built_with_sanitizers();

}  // namespace weft::tools
