// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/nearest.hpp"

#include <algorithm>
#include <utility>

namespace weft::tools {
namespace {

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

bool one_begins_the_other(std::string_view one, std::string_view other) {
  return one.starts_with(other) || other.starts_with(one);
}

// Slips between the words, or none where they are too many. What begins alike counts as a single slip.
std::optional<std::size_t> nearness(std::string_view mistyped, std::string_view word) {
  const std::string_view typed = without_dashes(mistyped);
  const std::string_view known = without_dashes(word);
  if (std::min(typed.size(), known.size()) < 2) return std::nullopt;
  if (one_begins_the_other(typed, known)) return 1;
  const std::size_t slips = slips_between(typed, known);
  if (slips > std::max<std::size_t>(1, typed.size() / 3)) return std::nullopt;
  return slips;
}

}  // namespace

// The table of Damerau and Levenshtein (two swapped letters: next to each other), three rows of it at a time.
std::size_t slips_between(std::string_view one, std::string_view other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::size_t> before(width), above(width), row(width);
  for (std::size_t j = 0; j < width; ++j) above[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t wrong = one[i - 1] == other[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + wrong});
      const bool swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above.back();
}

std::optional<std::string> nearest(std::string_view mistyped, const std::vector<std::string>& words) {
  std::optional<std::pair<std::size_t, std::string>> best;
  for (const std::string& word : words) {
    const auto slips = nearness(mistyped, word);
    if (slips && (!best || *slips < best->first)) best = {*slips, word};
  }
  if (!best) return std::nullopt;
  return std::move(best->second);
}

}  // namespace weft::tools
