// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/queue_pair_numbers.hpp"

#include <new>

#include "verbs/queue_pair.hpp"

namespace weft::verbs::detail {

QueuePairNumbers& QueuePairNumbers::of_process() {
  static auto* const one = new QueuePairNumbers(QueuePairAttributes::kHighestAssignedNumber);
  return *one;
}

std::optional<std::uint32_t> QueuePairNumbers::take() {
  const std::lock_guard lock(mutex_);
  if (taken_.size() == highest_) wake_oldest();
  if (taken_.size() == highest_) return std::nullopt;
  do {
    last_ = last_ == highest_ ? 1 : last_ + 1;
  } while (!taken_.insert(last_).second);
  return last_;
}

void QueuePairNumbers::give_back(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  try {
    resting_.push_back(number);
  } catch (const std::bad_alloc&) {  // then it does not rest
    taken_.erase(number);
    return;
  }
  if (resting_.size() > resting_most_) wake_oldest();
}

void QueuePairNumbers::wake_oldest() {
  if (resting_.empty()) return;
  taken_.erase(resting_.front());
  resting_.pop_front();
}

void QueuePairNumbers::continue_behind(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  last_ = number;
}

}  // namespace weft::verbs::detail
