// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables indexed by the value of an enumeration. A static_assert with in_order() rejects a table with a missing,
/// surplus or misplaced row.
#pragma once

#include <cstddef>
#include <functional>
#include <ranges>
#include <utility>

namespace weft {

/// Returns whether row n describes the enumerator with value n. `key` is the member that names the enumerator.
/// If true, table[value] is the row of `value` for value < table.size().
template <std::ranges::random_access_range Table, typename Key>
[[nodiscard]] constexpr bool in_order(const Table& table, Key key) noexcept {
  std::size_t expected = 0;
  for (const auto& row : table) {
    if (static_cast<std::size_t>(std::to_underlying(std::invoke(key, row))) != expected++) return false;
  }
  return true;
}

}  // namespace weft
