// SPDX-License-Identifier: Apache-2.0
// Where the two measuring threads run. Threads that poll never sleep, so a scheduler may leave both on one processor
// for seconds, and would measure its own time slices: they get a processor each. Threads that sleep in the kernel are
// left to the scheduler, which knows best where to wake them.
#pragma once

#include <sched.h>

#include <cstdint>

#include "tools/bench/endpoint.hpp"

namespace weft::tools::bench {

enum class Seat : std::uint8_t { kLeader, kFollower };

// For the calling thread only; threads that exist already stay free.
class Placement {
 public:
  explicit Placement(Seat seat) noexcept;

  // Pins the thread to the first or second processor that the process may use, or gives it all of them again.
  void place(Waiting waiting) const noexcept;
  // Returns whether there is a processor for each: else place() does nothing.
  [[nodiscard]] bool possible() const noexcept { return possible_; }

 private:
  cpu_set_t all_{};
  cpu_set_t mine_{};
  bool possible_ = false;
};

// Returns whether the calling thread may use one processor only.
[[nodiscard]] bool on_one_processor() noexcept;

}  // namespace weft::tools::bench
