// SPDX-License-Identifier: Apache-2.0
// The model's text in colors.
#pragma once

#include <vector>

#include "explain/text/text.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::explaining {

[[nodiscard]] std::string painted(const std::vector<explain::Line>& lines, const Palette& palette);
// All of it.
[[nodiscard]] Outcome<void> print_model(const explain::Model& model, const Palette& palette);

}  // namespace weft::tools::explaining
