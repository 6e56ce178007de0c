// SPDX-License-Identifier: Apache-2.0
// RLIMIT_FSIZE (`ulimit -f`) as an error of the write, like a full disk: EFBIG. By default the kernel also sends
// SIGXFSZ to the writing thread, which ends the process.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace weft::transport {

// During its lifetime, a write of the calling thread raises no SIGXFSZ. Preserves errno. If the thread blocks the
// signal anyway, a signal stays pending.
class SizeLimitIsAnError {
 public:
  SizeLimitIsAnError() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~SizeLimitIsAnError() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;
    const int error = errno;
    const timespec at_once{};
    sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  SizeLimitIsAnError(const SizeLimitIsAnError&) = delete;
  SizeLimitIsAnError& operator=(const SizeLimitIsAnError&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

}  // namespace weft::transport
