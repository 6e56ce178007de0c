// SPDX-License-Identifier: Apache-2.0
// The policy of both ends of weft.
#pragma once

#include "tools/bench/options.hpp"
#include "tools/cli/outcome.hpp"
#include "verbs/policy.hpp"

namespace weft::tools::bench {

// With TCP between the ends, unless the options have same-host.
[[nodiscard]] Outcome<verbs::Policy> policy_of(const Options& options);
[[nodiscard]] bool is_same_host(const Options& options);
// The same without TLS.
[[nodiscard]] Options without_tls(Options options);

}  // namespace weft::tools::bench
