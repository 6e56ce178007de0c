// SPDX-License-Identifier: Apache-2.0
// The process that measures: connects both transports to the follower, checks that data arrives as sent, and takes the
// repetitions of the two in turns so that a busy moment of the machine meets both.
#pragma once

#include <functional>
#include <string>

#include "tools/bench/report.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::bench {

// What a measurement does besides measuring.
struct Onlooker {
  std::string title{};  // stands before "repetition 3 of 7" on the terminal
  // At ^C or SIGTERM: gets what is complete by then, from a thread of its own, and ends the process. None: a signal
  // does.
  std::function<void(const Report&)> at_interruption{};
};

Outcome<Report> lead_measurement(const Options& options, const Onlooker& onlooker, int channel);

}  // namespace weft::tools::bench
