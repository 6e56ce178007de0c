// SPDX-License-Identifier: Apache-2.0
// The check for lost wake-ups that debug and test builds have (CMake's WEFT_WATCHDOG). A release build has none: it
// rests on the arguments and models of docs/progress.md.
#pragma once

#include <memory>
#include <system_error>

#include "transport/reactor.hpp"

namespace weft::verbs::detail {

class Runtime;

class LostWakeUps {
 public:
  // Returns null in a release build. The runtime outlives it.
  [[nodiscard]] static std::unique_ptr<LostWakeUps> make(Runtime& runtime);
  virtual ~LostWakeUps() = default;
  LostWakeUps(const LostWakeUps&) = delete;
  LostWakeUps& operator=(const LostWakeUps&) = delete;

  // Before the first start(). Fails when the process is out of descriptors.
  [[nodiscard]] virtual std::error_code open(transport::Reactor& reactor) = 0;
  // From any thread: checks until there is nothing to be looked at.
  virtual void start() = 0;
  // In a child of fork(): the timer is the parent's.
  virtual void leave_to_parent() noexcept = 0;

 protected:
  LostWakeUps() = default;
};

}  // namespace weft::verbs::detail
