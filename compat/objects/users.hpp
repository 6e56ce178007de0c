// SPDX-License-Identifier: Apache-2.0
// How many of a program's objects use another one of its objects, which then may not be destroyed (EBUSY). The engine's
// own count would not do: a connection that is still closing uses things that its program has destroyed.
#pragma once

#include <atomic>

namespace weft::compat {

class Users {
 public:
  [[nodiscard]] bool any() const noexcept { return count_ > 0; }

 private:
  friend class Use;
  std::atomic<int> count_{0};
};

// One user's share, as long as it lives.
class Use {
 public:
  explicit Use(Users* of) noexcept : of_(of) {
    if (of_ != nullptr) ++of_->count_;
  }
  ~Use() {
    if (of_ != nullptr) --of_->count_;
  }
  void move_to(Users* other) noexcept {
    if (other != nullptr) ++other->count_;
    if (of_ != nullptr) --of_->count_;
    of_ = other;
  }
  [[nodiscard]] bool counts() const noexcept { return of_ != nullptr; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Users* of_;
};

}  // namespace weft::compat
