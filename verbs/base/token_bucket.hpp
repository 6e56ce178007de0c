// SPDX-License-Identifier: Apache-2.0
// A rate limit: a burst at once, then one item per interval. Time is an argument.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/instant.hpp"

namespace weft::verbs::detail {

struct Rate {
  std::uint64_t burst = 1;
  Duration each{};  // not zero
};

// Not safe between threads.
class TokenBucket {
 public:
  constexpr explicit TokenBucket(Rate rate) noexcept : rate_(rate), left_(rate.burst) {}

  // Takes a token at `now`. Returns whether there was one.
  [[nodiscard]] bool take(Instant now) noexcept {
    refill(now);
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  // All of the burst is there: it is as good as new.
  [[nodiscard]] bool is_full(Instant now) const noexcept {
    TokenBucket then = *this;
    then.refill(now);
    return then.left_ == rate_.burst;
  }

  [[nodiscard]] const Rate& rate() const noexcept { return rate_; }

 private:
  void refill(Instant now) noexcept {
    if (left_ == rate_.burst) counted_to_ = now;
    const auto come = static_cast<std::uint64_t>(std::max((now - counted_to_) / rate_.each, Duration::rep{0}));
    left_ = std::min(left_ + come, rate_.burst);
    counted_to_ = counted_to_ + rate_.each * static_cast<Duration::rep>(come);
  }

  Rate rate_;
  std::uint64_t left_;
  Instant counted_to_{};  // what came up to here is in left_
};

}  // namespace weft::verbs::detail
