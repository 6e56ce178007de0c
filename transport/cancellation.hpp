// SPDX-License-Identifier: Apache-2.0
// Protection from pthread_cancel(), which ends a thread at the next cancellation point of the C library. The verbs are
// cancellation points only in calls that wait for an event: a thread that moves octets or holds a lock would leave an
// operation half done. So code that holds a stream's lock contains no cancellation point: the system calls of the data
// path bypass the C library (detail/system_calls.hpp), and all other code disables cancellation around calls that may
// wait or write. Disabling it with each lock would cost 50 ns per message.
#pragma once

#include <pthread.h>

namespace weft::transport {

// Disables cancellation of the calling thread during its lifetime.
class NoCancellation {
 public:
  NoCancellation() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { ::pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace weft::transport
