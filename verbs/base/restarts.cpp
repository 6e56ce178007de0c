// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/restarts.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace weft::verbs::detail {

namespace {

// Returns whether the signal is a fault of the thread itself, which is not waiting then.
bool is_fault(int signal) noexcept {
  constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  return std::ranges::find(kFaults, signal) != kFaults.end();
}

}  // namespace

bool every_handler_restarts() noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (is_fault(signal)) continue;
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    const bool handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (handled && (action.sa_flags & SA_RESTART) == 0) return false;
  }
  return true;
}

}  // namespace weft::verbs::detail
