// SPDX-License-Identifier: Apache-2.0
// The model as JSON: what the page reads, and `weft explain --json` prints. docs/explain.md describes it.
#pragma once

#include <string>

#include "explain/model/model.hpp"

namespace weft::explain {

/// All of it, in one line.
[[nodiscard]] std::string to_json(const Model& model);

}  // namespace weft::explain
