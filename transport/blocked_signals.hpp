// SPDX-License-Identifier: Apache-2.0
// Signal mask of weft's threads. Signals belong to the application's threads: each weft thread calls this first.
#pragma once

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace weft::transport {

// Blocks all signals in the calling thread except those of its own faults. Debugger helpers, garbage collectors and
// crash reporters handle those and need all of them, and a blocked one would end the process without its handler.
// SIGABRT needs no exception: abort() unblocks it.
inline void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace weft::transport
