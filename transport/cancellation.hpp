// SPDX-License-Identifier: Apache-2.0
// pthread_cancel() ends a thread in whatever cancellation point of the C library it meets next. The verbs promise no
// such place but the calls that wait for an event; a thread that moves octets or holds a lock meanwhile would leave
// half a step behind. So what a stream does with its lock held meets none: the system calls of the data path are not
// the library's (detail/system_calls.hpp), and all other code refuses cancellation around calls that may wait or write.
// To refuse it with each lock would cost a message 50 ns.
#pragma once

#include <pthread.h>

namespace weft::transport {

// While it lives the calling thread is not cancelled.
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
