// SPDX-License-Identifier: Apache-2.0
// The rate limit of one kind of log line. A peer determines how often it fails, so its failures must exhaust neither
// disk nor processor. Lines beyond the rate are counted and reported as one number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/instant.hpp"
#include "verbs/base/token_bucket.hpp"

namespace weft::verbs::detail {

using LogRate = Rate;

// Not safe between threads.
class LogBudget {
 public:
  constexpr explicit LogBudget(LogRate rate) noexcept : lines_(rate) {}

  // Returns whether a line may be shown at `now`. A caller that is refused and shows the line nowhere else calls
  // withhold().
  [[nodiscard]] bool take(Instant now) noexcept { return lines_.take(now); }

  // One line is not shown. True for the first since they were told last: the caller sees to it that due() is asked
  // later.
  bool withhold(Instant now) noexcept {
    if (withheld_++ == 0) since_ = now;
    return withheld_ == 1;
  }

  // Returns when to report the omitted lines; nothing if there are none.
  [[nodiscard]] std::optional<Instant> due() const noexcept {
    if (withheld_ == 0) return std::nullopt;
    return since_ + std::max(lines_.rate().each, kTellEach);
  }

  // Returns how many lines were withheld since this was asked last.
  [[nodiscard]] std::uint64_t take_withheld() noexcept { return std::exchange(withheld_, 0); }

 private:
  static constexpr Duration kTellEach = std::chrono::seconds(1);

  TokenBucket lines_;
  std::uint64_t withheld_ = 0;
  Instant since_{};  // the first of them
};

}  // namespace weft::verbs::detail
