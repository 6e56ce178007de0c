// SPDX-License-Identifier: Apache-2.0
// ^C and SIGTERM as something to wait for, beside what a command waits for anyway. The request stays: one that comes
// between a look and a wait ends the wait.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "conformance/stop_switch.hpp"
#include "tools/cli/outcome.hpp"
#include "tools/cli/unique_fd.hpp"

namespace weft::tools {

// From now on the first SIGINT or SIGTERM asks the process to end instead of ending it; the next one ends it. Where
// SIGINT is ignored (nohup, a job that a script has put behind itself) it stays so.
Outcome<void> catch_interruptions();
// Returns whether the process answers a signal with this handler, SIG_DFL and SIG_IGN included.
[[nodiscard]] bool is_answered_by(int number, void (*handler)(int));
// Has the process been asked to end?
[[nodiscard]] bool interrupted() noexcept;
[[nodiscard]] bool interruptions_are_caught() noexcept;
// What the request turns, for all that waits on a descriptor. After catch_interruptions() only; it stays for good.
[[nodiscard]] conformance::StopSwitch& interruption_switch() noexcept;

// While it lives, interruptions are caught. Afterwards signals mean what they meant before; a request that came
// meanwhile stays. Where they cannot be caught, a signal ends the process.
class InterruptionsCaught {
 public:
  InterruptionsCaught();
  InterruptionsCaught(const InterruptionsCaught&) = delete;
  InterruptionsCaught& operator=(const InterruptionsCaught&) = delete;
  ~InterruptionsCaught();

 private:
  bool before_;  // they were caught already
};

// For a child: the terminal sends ^C to it too, but its parent decides what becomes of it.
void leave_interruptions_to_parent();

// Waits until `descriptor` can be read. Once the process has been asked to end, the wait goes on for no longer than
// `grace`; then it fails with ExitCode::kInterrupted.
Outcome<void> wait_readable(int descriptor, std::chrono::milliseconds grace = std::chrono::milliseconds(0));

// While it lives, a thread waits for the request to end, and then calls `then`, which ends the process. Afterwards the
// signals have their usual meaning again.
class InterruptionWatch {
 public:
  explicit InterruptionWatch(std::function<void()> then);
  InterruptionWatch(const InterruptionWatch&) = delete;
  InterruptionWatch& operator=(const InterruptionWatch&) = delete;
  ~InterruptionWatch();

 private:
  UniqueFd over_;  // written to when the watch ends
  std::thread thread_;
};

}  // namespace weft::tools
