// SPDX-License-Identifier: Apache-2.0
// A mutex that looks again for a moment before it sleeps. A program that waits for an RDMA Write by looking at its
// memory sees the last octet while the progress thread, which placed it, still holds the stream's lock for a few
// hundred instructions; the program posts its answer at once, and to sleep and be woken would take longer than all the
// rest.
//
// Whoever holds it cannot be cancelled until it is given up: see cancellation.hpp.
#pragma once

#include <pthread.h>

namespace weft::verbs::detail {

class AdaptiveMutex {
 public:
  AdaptiveMutex() = default;
  ~AdaptiveMutex() { ::pthread_mutex_destroy(&mutex_); }
  AdaptiveMutex(const AdaptiveMutex&) = delete;
  AdaptiveMutex& operator=(const AdaptiveMutex&) = delete;

  // As std::mutex has them, for std::lock_guard and std::unique_lock. They cannot fail: nothing here locks twice.
  void lock() noexcept {
    const int before = refuse_cancellation();
    ::pthread_mutex_lock(&mutex_);
    before_ = before;
  }
  bool try_lock() noexcept {
    const int before = refuse_cancellation();
    const bool locked = ::pthread_mutex_trylock(&mutex_) == 0;
    if (locked) before_ = before;
    if (!locked) ::pthread_setcancelstate(before, nullptr);
    return locked;
  }
  void unlock() noexcept {
    const int before = before_;
    ::pthread_mutex_unlock(&mutex_);
    ::pthread_setcancelstate(before, nullptr);
  }

 private:
  static int refuse_cancellation() noexcept {
    int before = PTHREAD_CANCEL_ENABLE;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
  }

#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;  // glibc's
#else
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
#endif
  int before_ = PTHREAD_CANCEL_ENABLE;  // of the thread that holds it
};

}  // namespace weft::verbs::detail
