// SPDX-License-Identifier: Apache-2.0
// A first-in first-out queue with a bound set at construction. Its storage grows by doubling until the bound fits and
// is then kept, so a queue in steady state allocates nothing and an idle one is small.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace weft {

template <typename T>
class BoundedRing {
 public:
  explicit BoundedRing(std::uint32_t bound) : bound_(bound) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bound() const noexcept { return bound_; }
  [[nodiscard]] std::size_t room() const noexcept { return bound_ - size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == bound_; }

  // False, and nothing changed, when the ring is full.
  template <typename Value = T>
  bool push(Value&& value) {
    if (full()) return false;
    extend() = std::forward<Value>(value);
    return true;
  }

  // One more element at the back, as the slot's last user left it: for large ones, to be filled where they stay.
  // The caller has checked that the ring is not full.
  T& extend() {
    if (full()) std::abort();
    if (size_ == capacity_) grow();
    return slots_[index(size_++)];
  }

  // So that the next push allocates nothing. The caller has checked that the ring is not full.
  void reserve() {
    if (size_ == capacity_) grow();
  }

  // The caller has checked that the ring is not empty, or that i < size().
  [[nodiscard]] T& front() noexcept { return slots_[head_]; }
  [[nodiscard]] const T& front() const noexcept { return slots_[head_]; }
  [[nodiscard]] T& back() noexcept { return slots_[index(size_ - 1)]; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return slots_[index(i)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return slots_[index(i)]; }

  // What the element owns leaves the ring with it; what is left in the slot is an element moved from.
  T pop() {
    T value = std::move(slots_[head_]);
    advance();
    return value;
  }
  // For a caller that has moved the front away already.
  void advance() noexcept {
    head_ = static_cast<std::uint32_t>(index(1));
    --size_;
  }

  // The same for an element that the caller does not want: what it owns is let go of.
  void drop() {
    if constexpr (!std::is_trivially_destructible_v<T>) slots_[head_] = T{};
    advance();
  }

  void clear() {
    while (!empty()) drop();
  }

 private:
  // Room that the first element takes: four, or fewer large ones. Most queues of most connections hold one at a time.
  static constexpr std::uint32_t kFirst = std::bit_floor(std::clamp<std::uint32_t>(64 / sizeof(T), 1, 4));

  [[nodiscard]] std::size_t index(std::size_t i) const noexcept {
    return (head_ + static_cast<std::uint32_t>(i)) & (capacity_ - 1);
  }

  void grow() {
    if (capacity_ > std::numeric_limits<std::uint32_t>::max() / 2) std::abort();
    const std::uint32_t room = std::max(std::min(kFirst, std::bit_floor(bound_)), capacity_ * 2);
    auto larger = std::make_unique<T[]>(room);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    capacity_ = room;
    head_ = 0;
  }

  std::unique_ptr<T[]> slots_;  // capacity_ of them, a power of two
  std::uint32_t capacity_ = 0;  // these have 32 bits, for a connection has seven such queues
  std::uint32_t bound_;
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace weft
