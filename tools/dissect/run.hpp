// SPDX-License-Identifier: Apache-2.0
// `weft dissect`, up to the end of the capture, its damage or an interrupt.
#pragma once

#include "tools/cli/colour.hpp"
#include "tools/cli/outcome.hpp"
#include "tools/dissect/options.hpp"

namespace weft::tools::dissect {

[[nodiscard]] Outcome<void> run(const Options& options, const Palette& palette);

}  // namespace weft::tools::dissect
