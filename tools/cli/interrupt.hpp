// SPDX-License-Identifier: Apache-2.0
// ^C as the normal end of a command that reads on and on: what was read so far is still reported.
#pragma once

#include "conformance/stop_switch.hpp"

namespace weft::tools {

// While it lives, the first SIGINT or SIGTERM turns the switch, and the next one ends the process at once. One at a
// time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] conformance::StopSwitch& stop() noexcept { return stop_; }
  [[nodiscard]] bool came() const noexcept { return stop_.stopped(); }

 private:
  conformance::StopSwitch stop_{};
};

}  // namespace weft::tools
