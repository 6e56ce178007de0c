// SPDX-License-Identifier: Apache-2.0
// The second process of a measurement: accepts one connection of each transport and then does as it is told.
#pragma once

#include "tools/bench/options.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::bench {

Outcome<void> follow_commands(const Options& options, int channel);

}  // namespace weft::tools::bench
