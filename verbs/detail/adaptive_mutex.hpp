// SPDX-License-Identifier: Apache-2.0
// A stream's lock: a compact mutex whose holder cannot be cancelled until it is given up. See cancellation.hpp.
#pragma once

#include <pthread.h>

#include "verbs/detail/compact_mutex.hpp"

namespace weft::verbs::detail {

class AdaptiveMutex {
 public:
  AdaptiveMutex() = default;
  AdaptiveMutex(const AdaptiveMutex&) = delete;
  AdaptiveMutex& operator=(const AdaptiveMutex&) = delete;

  // As std::mutex has them, for std::lock_guard and std::unique_lock. They cannot fail: nothing here locks twice.
  void lock() noexcept {
    const int before = refuse_cancellation();
    mutex_.lock();
    before_ = before;
  }
  bool try_lock() noexcept {
    const int before = refuse_cancellation();
    const bool locked = mutex_.try_lock();
    if (locked) before_ = before;
    if (!locked) ::pthread_setcancelstate(before, nullptr);
    return locked;
  }
  void unlock() noexcept {
    const int before = before_;
    mutex_.unlock();
    ::pthread_setcancelstate(before, nullptr);
  }

 private:
  static int refuse_cancellation() noexcept {
    int before = PTHREAD_CANCEL_ENABLE;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
  }

  CompactMutex mutex_;
  int before_ = PTHREAD_CANCEL_ENABLE;  // of the thread that holds it
};

}  // namespace weft::verbs::detail
