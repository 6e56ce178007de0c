// SPDX-License-Identifier: Apache-2.0
// Runs a rival's benchmark: its server, then its client, each on the processor that our own process would have.
#pragma once

#include <string>

#include "tools/bench/pinning.hpp"
#include "tools/bench/rival.hpp"

namespace weft::tools::bench {

// Returns an empty text if the program is there; else a sentence with the package of Debian's that has it.
[[nodiscard]] std::string why_missing(const RivalTest& test);

// A stack that --against names.
struct RivalStack {
  std::string name{};     // "ucx"
  std::string missing{};  // why_missing() of its program
};
[[nodiscard]] std::vector<RivalStack> stacks_of(const Against& against);

// Where its two processes are put.
struct Seats {
  const Placement& leader;
  const Placement& follower;
};

// Returns when its client has ended. `messages` at least 1.
Outcome<RivalFigure> run_rival(const RivalTest& test, std::uint64_t messages, const Seats& seats, Waiting waiting);

}  // namespace weft::tools::bench
