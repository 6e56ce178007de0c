// SPDX-License-Identifier: Apache-2.0
// The first process of the demo: posts the work requests and says what came of each.
#pragma once

#include "tools/cli/outcome.hpp"
#include "verbs/policy.hpp"

namespace weft::tools::demo {

// What was compared, by both processes together.
struct Score {
  std::uint64_t operations{};
  std::uint64_t octets{};
};

Outcome<Score> run_client(const verbs::Policy& policy, std::uint16_t port);

}  // namespace weft::tools::demo
