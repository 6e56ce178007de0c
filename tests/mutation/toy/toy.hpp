// SPDX-License-Identifier: Apache-2.0
// A file to put faults into, and for each kind of them a line.
#pragma once

#include <expected>
#include <optional>
#include <vector>

namespace toy {

enum class BoxError { kFull, kEmpty, kTooLarge };

inline constexpr int kLargest = 9;

class Box {
 public:
  explicit Box(unsigned room) : room_(room) {}
  std::expected<void, BoxError> put(int value) {
    if (value < 0 || value > kLargest) return std::unexpected(BoxError::kTooLarge);
    if (values_.size() == room_) return std::unexpected(BoxError::kFull);
    values_.push_back(value);
    sum_ += value;
    return {};
  }
  std::expected<int, BoxError> take() {
    if (const auto last = newest()) {
      values_.pop_back();
      return *last;
    }
    return std::unexpected(BoxError::kEmpty);
  }
  [[nodiscard]] int mean() const { return values_.empty() ? 0 : (sum_ + 1) / 2; }

 private:
  [[nodiscard]] std::optional<int> newest() const {
    if (values_.empty()) return std::nullopt;
    return values_.back();
  }
  std::vector<int> values_{};
  unsigned room_;
  int sum_ = 0;
};

}  // namespace toy
