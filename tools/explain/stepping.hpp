// SPDX-License-Identifier: Apache-2.0
// The model's text, one row at a time.
#pragma once

#include "explain/model/model.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::explaining {

// Ends with the key q, with the end of the input, or interrupted by ^C; the terminal is as it was before in any case.
[[nodiscard]] Outcome<void> step_through(const explain::Model& model, const Palette& palette);

}  // namespace weft::tools::explaining
