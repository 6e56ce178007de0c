// SPDX-License-Identifier: Apache-2.0
// One whole measurement: both processes, from the first connection to the report.
#pragma once

#include "tools/bench/report.hpp"
#include "tools/cli/command.hpp"

namespace weft::tools::bench {

// Must be called while the process has a single thread, and leaves it with weft's.
Outcome<Report> measure(const Options& options, const GlobalOptions& global);

// The same in a process of its own, so that any number can follow one another.
Outcome<Report> measure_apart(const Options& options, const GlobalOptions& global);

}  // namespace weft::tools::bench
