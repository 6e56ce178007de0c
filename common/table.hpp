// SPDX-License-Identifier: Apache-2.0
// Tables whose rows are found by the value of an enum. Such a table says so in a static_assert, so that a row too many,
// too few or in the wrong place does not compile.
#pragma once

#include <cstddef>
#include <functional>
#include <ranges>
#include <utility>

namespace weft {

// Row n is that of the enumerator with the value n; `key` is the member that names it. What follows from it:
// table[value] is the row of `value` where value < table.size().
template <std::ranges::random_access_range Table, typename Key>
[[nodiscard]] constexpr bool in_order(const Table& table, Key key) noexcept {
  std::size_t expected = 0;
  for (const auto& row : table) {
    if (static_cast<std::size_t>(std::to_underlying(std::invoke(key, row))) != expected++) return false;
  }
  return true;
}

}  // namespace weft
