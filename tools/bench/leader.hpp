// SPDX-License-Identifier: Apache-2.0
// The process that measures: connects both transports to the follower, checks that data arrives as sent, and takes the
// repetitions of the two in turns so that a busy moment of the machine meets both.
#pragma once

#include "tools/bench/report.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::bench {

Outcome<Report> lead_measurement(const Options& options, int channel);

}  // namespace weft::tools::bench
