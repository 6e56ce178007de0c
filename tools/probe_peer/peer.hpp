// SPDX-License-Identifier: Apache-2.0
// The program behind `weft probe-peer`: one thread that waits for connections, completions and the end.
#pragma once

#include "tools/cli/outcome.hpp"
#include "tools/probe_peer/options.hpp"

namespace weft::tools::probe_peer {

// Until it is asked to end, or where it connects, until there is no listener any more.
Outcome<void> run(const Options& options);

}  // namespace weft::tools::probe_peer
