// SPDX-License-Identifier: Apache-2.0
// pthread_cancel() ends a thread in whatever system call it meets next. The verbs promise no such place but the calls
// that wait for an event; a thread that moves octets or holds a lock meanwhile would leave half a step behind.
#pragma once

#include <pthread.h>

namespace weft::verbs::detail {

class CancellationState {
 public:
  explicit CancellationState(int state) noexcept { ::pthread_setcancelstate(state, &before_); }
  ~CancellationState() { ::pthread_setcancelstate(before_, nullptr); }
  CancellationState(const CancellationState&) = delete;
  CancellationState& operator=(const CancellationState&) = delete;

  [[nodiscard]] int before() const noexcept { return before_; }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace weft::verbs::detail
