// SPDX-License-Identifier: Apache-2.0
// Checks that need only the argument itself: values without an enumerator, and settings that contradict each other.
#pragma once

#include "verbs/policy.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

// Unknown bits, and remote rights without the local one that they need.
[[nodiscard]] Result<void> check(Access access);
// Opcode, flags and, for a bind, rights. The rest is looked at when the request is posted.
[[nodiscard]] Result<void> check(const SendRequest& request);
[[nodiscard]] Result<void> check(const Policy& policy);

}  // namespace weft::verbs::detail
