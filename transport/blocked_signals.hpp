// SPDX-License-Identifier: Apache-2.0
// Signals belong to the application's threads: one of ours calls this before anything else.
#pragma once

#include <pthread.h>

#include <csignal>

namespace weft::transport {

// Blocks every signal in the calling thread.
inline void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace weft::transport
