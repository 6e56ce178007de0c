// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/forks.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace weft::compat {

struct Forking {
  // A thread that has one table's lock may want another's, or be the one that forks, in a signal handler: fork() waits
  // for no lock for long.
  static void before() {
    constexpr std::chrono::milliseconds kLong{100};
    const auto end = std::chrono::steady_clock::now() + kLong;
    for (TableMutex* one = first; one != nullptr; one = one->next_) {
      while (!(one->held_ = one->mutex_.try_lock()) && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
      }
    }
  }
  static void in_parent() {
    for (TableMutex* one = first; one != nullptr; one = one->next_) {
      if (std::exchange(one->held_, false)) one->mutex_.unlock();
    }
  }
  static void in_child() {
    ++count;
    for (TableMutex* one = first; one != nullptr; one = one->next_) {
      one->held_ = false;
      new (&one->mutex_) std::mutex;
    }
  }
  static void watch() noexcept {
    [[maybe_unused]] static const int watched = ::pthread_atfork(before, in_parent, in_child);
  }

  static inline std::atomic<TableMutex*> first{nullptr};
  static inline std::atomic<std::uint32_t> count{0};
};

std::uint32_t forks() noexcept {
  Forking::watch();
  return Forking::count.load(std::memory_order_relaxed);
}

TableMutex::TableMutex() noexcept : mutex_() {
  Forking::watch();
  next_ = Forking::first.load();
  while (!Forking::first.compare_exchange_weak(next_, this)) {
  }
}

}  // namespace weft::compat
