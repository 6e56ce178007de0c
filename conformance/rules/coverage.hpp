// SPDX-License-Identifier: Apache-2.0
// Which octets of a message its segments have brought so far.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::conformance {

class Coverage {
 public:
  // More pieces than this at a time are not told apart any more: known() is false, and there is no finding.
  static constexpr std::size_t kMostPieces = 64;

  void add(std::uint64_t begin, std::uint64_t size);
  void clear() noexcept {
    pieces_.clear();
    known_ = true;
    overlaps_ = false;
  }

  [[nodiscard]] bool known() const noexcept { return known_; }
  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }
  [[nodiscard]] bool overlaps() const noexcept { return overlaps_; }
  [[nodiscard]] bool contiguous() const noexcept { return pieces_.size() <= 1; }
  [[nodiscard]] std::uint64_t begin() const noexcept { return pieces_.empty() ? 0 : pieces_.front().begin; }
  [[nodiscard]] std::uint64_t end() const noexcept { return pieces_.empty() ? 0 : pieces_.back().end; }

 private:
  struct Interval {
    std::uint64_t begin{}, end{};
  };
  std::vector<Interval> pieces_{};  // sorted, not adjacent
  bool known_ = true;
  bool overlaps_ = false;
};

}  // namespace weft::conformance
