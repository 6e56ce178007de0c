// SPDX-License-Identifier: Apache-2.0
// The server's part for one client.
#pragma once

#include "tools/link/link.hpp"
#include "tools/rping/options.hpp"
#include "tools/rping/tally.hpp"

namespace weft::tools::rping {

// Accepts, echoes pings until the client leaves or the process is asked to end, and closes.
Outcome<void> serve_client(const Options& options, verbs::ConnectionId request, Tally& tally);

}  // namespace weft::tools::rping
