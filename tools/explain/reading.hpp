// SPDX-License-Identifier: Apache-2.0
// From a capture, or the tour, to the model.
#pragma once

#include <optional>

#include "explain/model/model.hpp"
#include "tools/cli/outcome.hpp"
#include "tools/explain/options.hpp"

namespace weft::tools::explaining {

struct ReadModel {
  explain::Model model{};
  std::optional<Failure> wrong{};  // with what could be read
};

// Fails where nothing could be read.
[[nodiscard]] Outcome<ReadModel> read_model(const Options& options);

}  // namespace weft::tools::explaining
