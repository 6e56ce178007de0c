// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers in text that people write: options, settings, addresses, scripts.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace weft {

/// Returns the number that `text` consists of, in `base` (2 to 36). Returns nothing if it has anything else, such as a
/// sign of an unsigned number, spaces, or a prefix, or if the number does not fit the type.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, int base = 10) noexcept {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace weft
