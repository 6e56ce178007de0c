// SPDX-License-Identifier: Apache-2.0
// The server's part for one client.
#pragma once

#include "tools/link/link.hpp"
#include "tools/rping/options.hpp"

namespace weft::tools::rping {

// Accepts, echoes pings until the client leaves, and closes.
Outcome<void> serve_client(const Options& options, verbs::ConnectionId request);

}  // namespace weft::tools::rping
