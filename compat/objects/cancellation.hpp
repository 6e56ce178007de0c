// SPDX-License-Identifier: Apache-2.0
// pthread_cancel() and the C interfaces. Programs cancel threads that wait for events, and mean the wait. So a thread
// is cancelled where a call waits, with nothing half done, and nowhere else: every other call comes through, and the
// thread ends at the next cancellation point behind it. The data path needs nothing of this: it meets no cancellation
// point (transport/cancellation.hpp).
#pragma once

#include <pthread.h>

#include <utility>

namespace weft::compat {

// While it lives the calling thread is not cancelled.
class Uncancelled {
 public:
  Uncancelled() noexcept : Uncancelled(false) {}
  ~Uncancelled() {
    waits_may_end() = outer_;
    ::pthread_setcancelstate(before_, nullptr);
  }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 protected:
  // One of several calls within each other follows the outermost, which alone sees what the program wants.
  explicit Uncancelled(bool but_in_waits) noexcept {
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
class UncancelledButInWaits : public Uncancelled {
 public:
  UncancelledButInWaits() noexcept : Uncancelled(true) {}
};

// Around a wait that leaves all as it is when the thread ends in it.
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
  const bool may_end_ = Uncancelled::waits_may_end();
};
template <typename Wait>
auto wait_for(Wait wait) {
  const Waits here;
  return wait();
}

}  // namespace weft::compat
