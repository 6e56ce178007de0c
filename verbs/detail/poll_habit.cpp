// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/poll_habit.hpp"

#include <algorithm>
#include <utility>

namespace weft::verbs::detail {

bool PollHabit::notice_closely() noexcept {
  const auto now = Clock::now().time_since_epoch();
  const auto previous = Clock::duration(last_poll_.exchange(now.count(), std::memory_order_relaxed));
  if (now - previous > kClose) close_polls_ = 0;
  if (++close_polls_ < kSpinningPolls) return false;
  came_by_ = true;
  return !spins_.exchange(true);
}

bool PollHabit::end() noexcept {
  close_polls_ = 0;
  return spins_.load() && spins_.exchange(false);
}

bool PollHabit::had_time() noexcept {
  const std::uint32_t all = idle_polls_.load(std::memory_order_relaxed);
  const std::uint32_t polls = all - std::exchange(idle_polls_before_, all);
  looks_elsewhere_.store(std::clamp(polls * kLooksElsewhere / kManyPolls, 1U, kLooksElsewhere),
                         std::memory_order_relaxed);
  return polls >= kSomePolls;
}

}  // namespace weft::verbs::detail
