// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/coverage.hpp"

#include <algorithm>

namespace weft::conformance {

void Coverage::add(std::uint64_t begin, std::uint64_t size) {
  if (size == 0 || !known_) return;
  Interval added{begin, begin + size};
  // In order, as nearly always: the last piece grows.
  if (!pieces_.empty() && pieces_.back().end == begin) {
    pieces_.back().end = added.end;
    return;
  }
  const auto first = std::ranges::find_if(pieces_, [&](const Interval& piece) { return piece.end >= added.begin; });
  auto last = first;
  for (; last != pieces_.end() && last->begin <= added.end; ++last) {
    if (last->begin < begin + size && last->end > begin) overlaps_ = true;
    added.begin = std::min(added.begin, last->begin);
    added.end = std::max(added.end, last->end);
  }
  pieces_.insert(pieces_.erase(first, last), added);
  if (pieces_.size() > kMostPieces) known_ = false;
}

}  // namespace weft::conformance
