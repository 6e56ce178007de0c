// SPDX-License-Identifier: Apache-2.0
// The memory of a server without a network: another writer changes an entry at chosen moments of the operations on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "kv_store_write.hpp"

namespace kv {

// When the other writer takes each of its steps, counted in moments: it stamps `back`, writes the first and the second
// half of the value, stamps `front`.
using Schedule = std::array<int, 4>;

enum class Placement {
  kAtOnce,
  kStampsFirst
};  // whether a Write of a value waits for the next Read or atomic operation

class Rehearsal : public WritableEntry {
 public:
  static constexpr std::uint64_t kStamp = 7;

  explicit Rehearsal(const Schedule& schedule, Placement placement = Placement::kAtOnce)
      : schedule_(schedule), placement_(placement) {
    entry_.front = entry_.back = kStamp;
    std::ranges::fill(std::span(entry_.pair.value).first(kLetters), 'a');
  }

  void read(std::size_t offset, std::size_t length) override {
    begin(offset, length);
    place_waiting();
    // First half of the value, then everything else: no order is guaranteed within one Read.
    const std::size_t middle = offsetof(Entry, pair) + offsetof(Pair, value) + kLetters / 2;
    const std::size_t first = std::clamp(middle, offset, offset + length);
    const std::size_t from = std::clamp(offsetof(Entry, pair), offset, first);
    move(&copy, &entry_, from, first - from);
    pass();
    move(&copy, &entry_, offset, from - offset);
    move(&copy, &entry_, first, offset + length - first);
  }
  void write(std::size_t offset, std::size_t length) override {
    begin(offset, length);
    waiting_.push_back({copy, offset, length});
    if (placement_ == Placement::kAtOnce || offset + length <= offsetof(Entry, pair)) place(waiting_.size() - 1);
    look();
  }
  std::uint64_t compare_swap(std::size_t offset, std::uint64_t compare, std::uint64_t swap) override {
    if (offset % sizeof swap != 0) fail("compare_swap", "an atomic operation needs a multiple of 8");
    begin(offset, sizeof swap);
    place_waiting();
    std::uint64_t old = 0;
    std::memcpy(&old, reinterpret_cast<std::byte*>(&entry_) + offset, sizeof old);
    if (old == compare) std::memcpy(reinterpret_cast<std::byte*>(&entry_) + offset, &swap, sizeof swap);
    look();
    return old;
  }

  // Lets everything happen that is still to come.
  void finish() {
    place_waiting();
    now_ = schedule_.back();
    pass();
  }
  [[nodiscard]] const Entry& entry() const { return entry_; }
  [[nodiscard]] bool other_wrote() const { return other_stamp_ != 0; }

  // Returns the letter of a value that one writer wrote, or a question mark.
  [[nodiscard]] static char letter(const Pair& pair) {
    const auto letters = std::span(pair.value).first(kLetters);
    return std::ranges::count(letters, letters[0]) == std::ssize(letters) ? letters[0] : '?';
  }
  [[nodiscard]] static Pair pair_of(char letter) {
    Pair pair{};
    std::ranges::fill(std::span(pair.value).first(kLetters), letter);
    return pair;
  }

 private:
  static constexpr std::size_t kLetters = 100;
  struct Waiting {
    Entry octets;
    std::size_t offset, length;
  };

  static void move(Entry* to, const Entry* from, std::size_t offset, std::size_t length) {
    std::memcpy(reinterpret_cast<std::byte*>(to) + offset, reinterpret_cast<const std::byte*>(from) + offset, length);
  }
  void begin(std::size_t offset, std::size_t length) {
    if (offset > sizeof(Entry) || length > sizeof(Entry) - offset) fail("access", "it reaches outside the entry");
    if (++operations_ > 1000) fail("access", "1000 operations, and no end");
    pass();
  }
  // A moment: the other writer takes the steps that are due.
  void pass() {
    for (++now_; step_ < schedule_.size() && schedule_[step_] <= now_; ++step_) other(step_);
    look();
  }
  void other(std::size_t step) {
    const auto letters = std::span(entry_.pair.value).first(kLetters);
    if (step == 0 && entry_.front == entry_.back) other_stamp_ = ++entry_.back;
    if (!other_wrote()) return;  // somebody else was writing
    if (step == 1) std::ranges::fill(letters.first(kLetters / 2), 'b');
    if (step == 2) std::ranges::fill(letters.last(kLetters / 2), 'b');
    if (step == 3) entry_.front = other_stamp_;
  }
  // What every reader relies on.
  void look() const {
    if (entry_.front != entry_.back) return;
    const char wanted = entry_.front == kStamp ? 'a' : entry_.front == other_stamp_ ? 'b' : 'n';
    if (letter(entry_.pair) != wanted) fail("entry", "its stamps are equal, and its value is not that of the stamp");
  }
  void place(std::size_t index) {
    move(&entry_, &waiting_[index].octets, waiting_[index].offset, waiting_[index].length);
    waiting_.erase(waiting_.begin() + std::ptrdiff_t(index));
  }
  void place_waiting() {
    while (!waiting_.empty()) place(0);
    look();
  }

  Entry entry_{};  // at the server
  Schedule schedule_;
  Placement placement_;
  std::vector<Waiting> waiting_{};
  std::size_t step_ = 0;
  int now_ = 0, operations_ = 0;
  std::uint64_t other_stamp_ = 0;
};

}  // namespace kv
