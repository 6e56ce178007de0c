// SPDX-License-Identifier: Apache-2.0
// A mutex of four octets. A connection has five mutexes, and there may be thousands of connections; a mutex of the C
// library takes forty octets.
//
// It spins briefly before it sleeps. A program that waits for an RDMA Write by polling its memory sees the last octet
// while the progress thread, which placed it, still holds the stream's lock for a few hundred instructions. The program
// then posts its answer at once, and sleeping and waking would take longer than everything else.
//
// The first thread that asks gets the lock, even if others were woken for it: that avoids most switches between
// threads. But a thread that posts large Sends in a loop releases the lock for only a microsecond in ten, and a thread
// that has to be woken is never that fast. So the lock is handed to a thread that has waited for kPatience.
//
// The word also contains the process that holds the lock. A child of fork() has copies of its parent's locks, but not
// the threads that would release them: there, a lock that another process holds counts as free.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "common/sanitizers.hpp"

#if WEFT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::verbs::detail {

// As std::mutex has them, for std::lock_guard and std::unique_lock. Nothing here locks twice.
class CompactMutex {
 public:
#if WEFT_THREAD_SANITIZER
  // ThreadSanitizer detects lock-order inversions only for annotated locks.
  CompactMutex() noexcept { __tsan_mutex_create(this, __tsan_mutex_not_static); }
  ~CompactMutex() { __tsan_mutex_destroy(this, __tsan_mutex_not_static); }
  void lock() noexcept {
    __tsan_mutex_pre_lock(this, 0);
    take();
    __tsan_mutex_post_lock(this, 0, 0);
  }
  bool try_lock() noexcept {
    __tsan_mutex_pre_lock(this, __tsan_mutex_try_lock);
    const bool taken = try_take() || take_from_parent();
    __tsan_mutex_post_lock(this, __tsan_mutex_try_lock | (taken ? 0U : __tsan_mutex_try_lock_failed), 0);
    return taken;
  }
  void unlock() noexcept {
    __tsan_mutex_pre_unlock(this, 0);
    give_up();
    __tsan_mutex_post_unlock(this, 0);
  }
#else
  CompactMutex() = default;
  void lock() noexcept { take(); }
  bool try_lock() noexcept { return try_take() || take_from_parent(); }
  void unlock() noexcept { give_up(); }
#endif
  CompactMutex(const CompactMutex&) = delete;
  CompactMutex& operator=(const CompactMutex&) = delete;

  // After fork(), in the child.
  static void entered_child() noexcept { process_ += kNextProcess; }

 private:
  // The low bits of the word, but for kFree, which is all of it; the others are process_.
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kAwaited = 2;   // held, and others may sleep
  static constexpr std::uint32_t kPromised = 3;  // held, and another has waited too long
  static constexpr std::uint32_t kReserved = 4;  // free, but for such a one only
  static constexpr std::uint32_t kNextProcess = 8;
  static constexpr int kLooks = 100;
  static constexpr std::chrono::milliseconds kPatience{1};

  void take() noexcept {
    if (!try_take()) take_slowly();
  }
  bool try_take() noexcept {
    std::uint32_t expected = kFree;
    return word_.compare_exchange_strong(expected, here(kHeld), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void give_up() noexcept {
    std::uint32_t expected = here(kHeld);
    if (!word_.compare_exchange_strong(expected, kFree, std::memory_order_release, std::memory_order_relaxed))
      give_up_awaited(expected);
  }
  [[nodiscard]] static std::uint32_t here(std::uint32_t state) noexcept { return process_ | state; }
  [[nodiscard]] static bool is_parents(std::uint32_t seen) noexcept {
    return seen != kFree && (seen & ~(kNextProcess - 1)) != process_;
  }
  bool take_from_parent() noexcept;
  void take_slowly() noexcept;
  void take_asleep() noexcept;
  void give_up_awaited(std::uint32_t seen) noexcept;

  [[gnu::visibility("hidden")]] static inline std::uint32_t process_ = 0;
  std::atomic<std::uint32_t> word_{kFree};
};

}  // namespace weft::verbs::detail
