// SPDX-License-Identifier: Apache-2.0
// rping -c.
#pragma once

#include "tools/cli/outcome.hpp"
#include "tools/rping/options.hpp"

namespace weft::tools::rping {

Outcome<void> run_client(const Options& options);

}  // namespace weft::tools::rping
