// SPDX-License-Identifier: Apache-2.0
// How the commands that read captures end, beyond what every command has.
#pragma once

#include "tools/cli/outcome.hpp"

namespace weft::tools {

inline constexpr auto kUnreadable = static_cast<ExitCode>(2);
inline constexpr auto kNoIwarp = static_cast<ExitCode>(3);

}  // namespace weft::tools
