// SPDX-License-Identifier: Apache-2.0
// The second process of the demo.
#pragma once

#include "tools/cli/outcome.hpp"
#include "verbs/policy.hpp"

namespace weft::tools::demo {

// Listens on a free port of 127.0.0.1, tells it through `channel`, and plays the server's part of the script.
Outcome<void> run_server(const verbs::Policy& policy, int channel);

}  // namespace weft::tools::demo
