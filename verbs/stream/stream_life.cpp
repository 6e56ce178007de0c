// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/stream_life.hpp"

#include <algorithm>
#include <cstdlib>

namespace weft::verbs::detail {

std::string StreamLife::print() {
  std::string table = "| from | to | because of |\n|---|---|---|\n";
  for (const Step& step : kSteps) {
    table.append("| ").append(to_string(step.from)).append(" | ").append(to_string(step.to)).append(" | ");
    table.append(step.cause).append(" |\n");
  }
  return table;
}

void StreamLife::reach(Stage stage) noexcept {
  if (stage <= stage_) return;
  const auto is_this = [&](const Step& step) { return step.from == stage_ && step.to == stage; };
  if (std::ranges::none_of(kSteps, is_this)) std::abort();  // a defect of weft's
  stage_ = stage;
}

}  // namespace weft::verbs::detail
