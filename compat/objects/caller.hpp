// SPDX-License-Identifier: Apache-2.0
// Which library called: for the few that need another answer than all others.
#pragma once

#include <initializer_list>
#include <string_view>

namespace weft::compat {

// Returns whether `code`, an address in the calling function, is in a library whose file name begins with one of
// `names`. False for null.
[[nodiscard]] bool is_in_library(const void* code, std::initializer_list<std::string_view> names) noexcept;

}  // namespace weft::compat
