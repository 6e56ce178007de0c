// SPDX-License-Identifier: Apache-2.0
// rping -s: serves one client, or with -P any number of them at a time until it is killed.
#pragma once

#include "tools/cli/outcome.hpp"
#include "tools/rping/options.hpp"

namespace weft::tools::rping {

Outcome<void> run_server(const Options& options);

}  // namespace weft::tools::rping
