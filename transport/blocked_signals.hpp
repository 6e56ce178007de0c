// SPDX-License-Identifier: Apache-2.0
// Signals belong to the application's threads: one of ours calls this before anything else.
#pragma once

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace weft::transport {

// Blocks every signal in the calling thread but those of a fault of its own: a program that handles them, as debuggers'
// helpers, garbage collectors and crash reporters do, is to hear of each, and a blocked one would end the process
// without its handler. SIGABRT stays: abort() unblocks it itself.
inline void block_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace weft::transport
