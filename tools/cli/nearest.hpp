// SPDX-License-Identifier: Apache-2.0
// Which word was meant by one that is not known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

// Returns how many slips of the finger lie between two words: a letter wrong, missing, too many, or two of them
// swapped.
[[nodiscard]] std::size_t slips_between(std::string_view one, std::string_view other);

// The word that `mistyped` is near to; none where it takes more than a slip for each three letters. One that begins as
// the other does is near, too. Words of one letter are never near.
[[nodiscard]] std::optional<std::string> nearest(std::string_view mistyped, const std::vector<std::string>& words);

}  // namespace weft::tools
