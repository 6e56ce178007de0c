// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/colour.hpp"
#include "tools/cli/outcome.hpp"
#include "tools/explain/options.hpp"

namespace weft::tools::explaining {

[[nodiscard]] Outcome<void> run(const Options& options, const Palette& palette);

}  // namespace weft::tools::explaining
