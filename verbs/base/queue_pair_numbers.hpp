// SPDX-License-Identifier: Apache-2.0
// The 24-bit numbers that identify queue pairs to applications. They wrap, because peers that connect repeatedly use
// them up. No number is assigned twice at a time, and a freed number rests, because the application may still hold a
// completion or an event with it. Rights do not depend on these numbers but on QueuePairState::identity, which is never
// reused.
//
// Counting up finds a free number at once, except after a wrap, where numbers in use are skipped. Memory is a few
// octets for each number in use or at rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

namespace weft::verbs::detail {

class QueuePairNumbers {
 public:
  static constexpr std::uint32_t kHighest = 0xFFFFFF;  // as libibverbs has it; 0 is none
  static constexpr std::size_t kResting = 1024;        // numbers that were freed last

  explicit QueuePairNumbers(std::uint32_t highest = kHighest, std::size_t resting = kResting)
      : highest_(highest), resting_most_(resting) {}

  // Returns the numbers of this process. Never destroyed, because queue pairs may be destroyed while exit() runs.
  [[nodiscard]] static QueuePairNumbers& of_process();

  // Takes a free number; nothing if all are in use. A number that was given back recently is taken only if no other is
  // free.
  [[nodiscard]] std::optional<std::uint32_t> take();
  void give_back(std::uint32_t number);

  // For tests: the next one is looked for after this one.
  void continue_behind(std::uint32_t number);

  // Around fork(): a child is to find the lock free.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

 private:
  void wake_oldest();

  const std::uint32_t highest_;
  const std::size_t resting_most_;
  std::mutex mutex_;
  std::uint32_t last_ = 0;
  std::unordered_set<std::uint32_t> taken_;  // in use, or at rest
  std::deque<std::uint32_t> resting_;        // the oldest first
};

// One number, in use as long as this lives and was not reset.
class QueuePairNumber {
 public:
  QueuePairNumber() = default;
  explicit QueuePairNumber(std::uint32_t taken) noexcept : number_(taken) {}
  QueuePairNumber(QueuePairNumber&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  QueuePairNumber& operator=(QueuePairNumber&& other) {
    if (this == &other) return *this;
    reset();
    number_ = std::exchange(other.number_, 0);
    return *this;
  }
  ~QueuePairNumber() { reset(); }

  [[nodiscard]] std::uint32_t value() const noexcept { return number_; }
  void reset() {
    if (number_ != 0) QueuePairNumbers::of_process().give_back(std::exchange(number_, 0));
  }

 private:
  std::uint32_t number_ = 0;
};

}  // namespace weft::verbs::detail
