// SPDX-License-Identifier: Apache-2.0
// A mutex that looks again for a moment before it sleeps. A program that waits for an RDMA Write by looking at its
// memory sees the last octet while the progress thread, which placed it, still holds the stream's lock for a few
// hundred instructions; the program posts its answer at once, and to sleep and be woken would take longer than all the
// rest.
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
  void lock() noexcept { ::pthread_mutex_lock(&mutex_); }
  bool try_lock() noexcept { return ::pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() noexcept { ::pthread_mutex_unlock(&mutex_); }

 private:
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;  // glibc's
#else
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
#endif
};

}  // namespace weft::verbs::detail
