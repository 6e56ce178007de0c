// SPDX-License-Identifier: Apache-2.0
// Protection from pthread_cancel(), which ends a thread at the next cancellation point of the C library. The verbs are
// cancellation points only in calls that wait for an event: a thread that moves octets or holds a lock would leave an
// operation half done. So code that holds a stream's lock contains no cancellation point: the system calls of the data
// path bypass the C library (detail/system_calls.hpp), and all other code disables cancellation around calls that may
// wait or write; calls that wait for an event, but in Waits. Disabling it with each lock would cost 50 ns per message.
#pragma once

#include <pthread.h>

#include <utility>

namespace weft::transport {

// While it lives the calling thread is not canceled.
class NoCancellation {
 public:
  NoCancellation() noexcept : NoCancellation(false) {}
  ~NoCancellation() {
    waits_may_end() = outer_;
    ::pthread_setcancelstate(before_, nullptr);
  }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 protected:
  // One of several calls within each other follows the outermost, which alone sees what the program wants.
  explicit NoCancellation(bool but_in_waits) noexcept {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
    const bool wanted = before_ == PTHREAD_CANCEL_ENABLE || waits_may_end();
    outer_ = std::exchange(waits_may_end(), but_in_waits && wanted);
  }

 private:
  friend class Waits;
  static bool& waits_may_end() noexcept {
    static constinit thread_local bool may = false;
    return may;
  }

  int before_ = PTHREAD_CANCEL_ENABLE;
  bool outer_ = false;
};

// But in Waits, if the program allows that.
class NoCancellationButInWaits : public NoCancellation {
 public:
  NoCancellationButInWaits() noexcept : NoCancellation(true) {}
};

// Around the one system call that waits, and that leaves all as it is when the thread ends in it. What leads there and
// back is not canceled: it may be noexcept, or have taken what is not its own yet.
class Waits {
 public:
  Waits() noexcept {
    if (may_end_) ::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  }
  ~Waits() {
    if (may_end_) ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  }
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

 private:
  const bool may_end_ = NoCancellation::waits_may_end();
};
template <typename Wait>
auto wait_for(Wait wait) {
  const Waits here;
  return wait();
}

}  // namespace weft::transport
