// SPDX-License-Identifier: Apache-2.0
// One whole measurement: both processes, from the first connection to the report.
#pragma once

#include "tools/bench/leader.hpp"
#include "tools/cli/command.hpp"

namespace weft::tools::bench {

// Must be called while the process has a single thread, and leaves it with weft's.
Outcome<Report> measure(const Options& options, const GlobalOptions& global, const Onlooker& onlooker);

// The same in a process of its own, so that any number can follow one another. Where this process catches interruptions
// they end that one, with what it has measured (ExitCode::kInterrupted). `title`: Onlooker's.
Outcome<Report> measure_apart(const Options& options, const GlobalOptions& global, const std::string& title = {});

}  // namespace weft::tools::bench
