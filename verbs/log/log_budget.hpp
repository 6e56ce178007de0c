// SPDX-License-Identifier: Apache-2.0
// How many lines of one kind the log shows. A peer chooses how often it fails: what it causes must cost neither a disk
// nor a processor. Lines beyond the rate are counted, and told as one number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/instant.hpp"

namespace weft::verbs::detail {

// `burst` lines at once, and then one in each `each`.
struct LogRate {
  std::uint64_t burst = 1;
  Duration each{};
};

// Not safe between threads.
class LogBudget {
 public:
  constexpr explicit LogBudget(LogRate rate) noexcept : rate_(rate), left_(rate.burst) {}

  // Whether a line may be shown at `now`. A caller that is refused and shows the line nowhere else calls withhold().
  [[nodiscard]] bool take(Instant now) noexcept {
    refill(now);
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  // One line is not shown. True for the first since they were told last: the caller sees to it that due() is asked
  // later.
  bool withhold(Instant now) noexcept {
    if (withheld_++ == 0) since_ = now;
    return withheld_ == 1;
  }

  // When the withheld lines are to be told; nothing while there are none.
  [[nodiscard]] std::optional<Instant> due() const noexcept {
    if (withheld_ == 0) return std::nullopt;
    return since_ + std::max(rate_.each, kTellEach);
  }

  // How many lines were withheld since this was asked last.
  [[nodiscard]] std::uint64_t take_withheld() noexcept { return std::exchange(withheld_, 0); }

 private:
  static constexpr Duration kTellEach = std::chrono::seconds(1);

  void refill(Instant now) noexcept {
    if (left_ == rate_.burst) counted_to_ = now;
    const auto come = static_cast<std::uint64_t>(std::max((now - counted_to_) / rate_.each, Duration::rep{0}));
    left_ = std::min(left_ + come, rate_.burst);
    counted_to_ = counted_to_ + rate_.each * static_cast<Duration::rep>(come);
  }

  LogRate rate_;
  std::uint64_t left_;
  Instant counted_to_{};  // what came up to here is in left_
  std::uint64_t withheld_ = 0;
  Instant since_{};  // the first of them
};

}  // namespace weft::verbs::detail
