// SPDX-License-Identifier: Apache-2.0
// What a row does at the end that receives it, as lines of text.
#pragma once

#include <vector>

#include "explain/text/text.hpp"

namespace weft::explain {

/// Appends them.
void tell_effects(std::vector<Line>& lines, const Connection& connection, const Row& row);

}  // namespace weft::explain
