// SPDX-License-Identifier: Apache-2.0
// The demo's account of what crossed each layer.
#pragma once

#include <string>

#include "tools/cli/outcome.hpp"

namespace weft::tools::demo {

// Counts what the auditor sees in the file, which holds one connection. A violation that the auditor finds is an error.
[[nodiscard]] Outcome<std::string> describe_layers(const std::string& path);

}  // namespace weft::tools::demo
