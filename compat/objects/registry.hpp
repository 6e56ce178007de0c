// SPDX-License-Identifier: Apache-2.0
// Which objects are alive. The engine's events carry a ticket and not a pointer: an event that is already on its way to
// one thread while another destroys its object finds no object, instead of memory that was freed.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "compat/objects/forks.hpp"

namespace weft::compat {

template <typename T>
class Registry {
 public:
  // Never destroyed: a program's other threads may still call while exit() runs.
  static Registry& instance() {
    static auto* const registry = new Registry;
    return *registry;
  }

  // A ticket is never used again.
  std::uint64_t reserve() {
    const std::lock_guard lock(mutex_);
    return ++last_;
  }
  void enter(std::uint64_t ticket, T& object) {
    const std::lock_guard lock(mutex_);
    live_.emplace(ticket, &object);
  }
  void leave(std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    live_.erase(ticket);
  }

  // The first that matches; only good while the caller knows that it lives. Null when there is none.
  template <typename Predicate>
  T* find(Predicate&& matches) {
    const std::lock_guard lock(mutex_);
    for (const auto& [ticket, object] : live_) {
      if (matches(*object)) return object;
    }
    return nullptr;
  }

  // Calls `use(object)` while the object cannot leave. False when it has left. `use` only counts or copies.
  template <typename Use>
  bool with(std::uint64_t ticket, Use&& use) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(ticket);
    if (found == live_.end()) return false;
    std::forward<Use>(use)(*found->second);
    return true;
  }

 private:
  TableMutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, T*> live_;
};

}  // namespace weft::compat
