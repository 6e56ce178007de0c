// SPDX-License-Identifier: Apache-2.0
// Ends the reading of captures from outside: from a signal handler, or from another thread. It stays on.
#pragma once

#include <atomic>

namespace weft::conformance {

// A switch that is turned once.
class StopSwitch {
 public:
  // Takes a descriptor; throws std::system_error where the process can have no more.
  StopSwitch();
  ~StopSwitch();  // the readers that look at it have to be gone
  StopSwitch(const StopSwitch&) = delete;
  StopSwitch& operator=(const StopSwitch&) = delete;

  // May be called by a signal handler.
  void stop() noexcept;
  // Whether stop() was called. From any thread.
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  // Readable for good once stop() was called. A reader that waits for a pipe or an interface waits for this in the same
  // poll(), so no call of stop() can fall between its look at stopped() and its sleep.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  std::atomic<bool> stopped_ = false;
  static_assert(std::atomic<bool>::is_always_lock_free);  // for signal handlers
  int descriptor_;
};

}  // namespace weft::conformance
