// SPDX-License-Identifier: Apache-2.0
/// @file
/// A switch that ends the reading of captures from a signal handler or another thread. It cannot be reset.
#pragma once

#include <atomic>

namespace weft::conformance {

/// Ends the reading of captures once stop() is called.
class StopSwitch {
 public:
  /// Allocates a descriptor. Throws std::system_error if the process cannot have another one.
  StopSwitch();
  /// Destroys the switch. The readers that use it must be destroyed first.
  ~StopSwitch();
  StopSwitch(const StopSwitch&) = delete;
  StopSwitch& operator=(const StopSwitch&) = delete;

  /// Stops the readers. May be called from a signal handler.
  void stop() noexcept;
  /// Returns whether stop() was called. Thread-safe.
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  /// Returns a descriptor that becomes readable when stop() is called, and stays so.
  /// A reader that waits for a pipe or an interface waits for this descriptor in the same poll(), so that it cannot
  /// miss a call of stop() between its check of stopped() and its sleep.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  std::atomic<bool> stopped_ = false;
  static_assert(std::atomic<bool>::is_always_lock_free);  // for signal handlers
  int descriptor_;
};

}  // namespace weft::conformance
