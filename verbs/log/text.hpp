// SPDX-License-Identifier: Apache-2.0
// Text that people write: variables and files.
#pragma once

#include <string_view>

namespace weft::verbs::detail {

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace weft::verbs::detail
