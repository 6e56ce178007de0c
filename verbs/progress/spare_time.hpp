// SPDX-License-Identifier: Apache-2.0
// The polls of a present poller that find nothing, and their use: sockets of others, and the tick. Counted without a
// lock, so concurrent counts may be lost.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "verbs/progress/tuning.hpp"

namespace weft::verbs::detail {

class SpareTime {
 public:
  // A poll that found nothing, in the sockets either. True when it should look at what the progress threads serve.
  [[nodiscard]] bool looks_elsewhere() noexcept {
    const std::uint32_t polls = polls_.load(std::memory_order_relaxed) + 1;
    polls_.store(polls, std::memory_order_relaxed);
    return polls % each_.load(std::memory_order_relaxed) == 0;
  }
  // The same poll may look at the clock.
  [[nodiscard]] bool looks_at_clock() const noexcept {
    return polls_.load(std::memory_order_relaxed) % tuning::kLooksAtClock == 0;
  }
  // By the tick: since the last call it was so often that the poller might do all the progress threads' work.
  [[nodiscard]] bool had_time() noexcept {
    const std::uint32_t all = polls_.load(std::memory_order_relaxed);
    const std::uint32_t polls = all - std::exchange(before_, all);
    const std::uint32_t each = polls * tuning::kLooksElsewhere / tuning::kManyPolls;
    each_.store(std::clamp(each, 1U, tuning::kLooksElsewhere), std::memory_order_relaxed);
    return polls >= tuning::kSomePolls;
  }

 private:
  std::atomic<std::uint32_t> polls_{0};
  std::atomic<std::uint32_t> each_{tuning::kLooksElsewhere};
  std::uint32_t before_ = 0;  // at the last had_time()
};

}  // namespace weft::verbs::detail
