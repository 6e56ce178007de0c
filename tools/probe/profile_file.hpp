// SPDX-License-Identifier: Apache-2.0
// `weft probe --profile`: a name, or a file that describes the user's own ULP.
#pragma once

#include <optional>
#include <string>

#include "probe/profile.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::probing {

// Reads a profile; returns nothing for the names "raw", "rping" and "weft".
[[nodiscard]] Outcome<std::optional<probe::Profile>> profile_of(const std::string& name_or_file);

}  // namespace weft::tools::probing
