// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth of Sends over message size, of weft and of all that it is compared with.
#pragma once

#include "tools/bench/plot.hpp"
#include "tools/bench/report.hpp"
#include "tools/cli/command.hpp"

namespace weft::tools::bench {

// Measures from 2 octets to 1 MiB. `common` as for suite_cases().
Outcome<std::vector<Panel>> sweep(const Options& common, const GlobalOptions& global);

// Adds one measurement's medians to the curves of those who took part, by their names.
void add_points(std::vector<Curve>& curves, const Report& report);

}  // namespace weft::tools::bench
