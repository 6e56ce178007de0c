// SPDX-License-Identifier: Apache-2.0
// The demo's account of what crossed each layer.
#pragma once

#include <string>

#include "tools/demo/wire_summary.hpp"

namespace weft::tools::demo {

[[nodiscard]] std::string describe_layers(const WireSummary& summary);

}  // namespace weft::tools::demo
