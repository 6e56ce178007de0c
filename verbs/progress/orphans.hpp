// SPDX-License-Identifier: Apache-2.0
// The streams that have outlived their queue pairs, and those that were rejected. Each closes in the background, within
// its close timeout, and no application can access it any more. Their number is limited, whatever the peers do: at the
// limit, the oldest one is ended.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "transport/descriptor_limit.hpp"

namespace weft::verbs::detail {

class Orphans {
 public:
  static constexpr std::size_t kMost = 256;  // and an eighth of the process's descriptors

  // Adds a stream by its number, once. Returns the number of the oldest one if there are too many: the caller ends it.
  [[nodiscard]] std::optional<std::uint64_t> add(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(numbers_, number) != numbers_.end()) return std::nullopt;
    numbers_.push_back(number);
    if (numbers_.size() <= std::min(kMost, transport::part_of_descriptors(8, kMost))) return std::nullopt;
    const std::uint64_t oldest = numbers_.front();
    numbers_.pop_front();
    return oldest;
  }
  void remove(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    std::erase(numbers_, number);
  }
  // For tests.
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return numbers_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::uint64_t> numbers_;  // in the order in which they were left
};

}  // namespace weft::verbs::detail
