// SPDX-License-Identifier: Apache-2.0
// Checks that need only the argument itself: values without an enumerator, and settings that contradict each other.
#pragma once

#include "verbs/policy.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

// Unknown bits, and remote rights without the local one that they need.
[[nodiscard]] Result<void> check(Access access);
// Opcode, flags and, for a bind, rights. The rest is looked at when the request is posted.
[[nodiscard]] Result<void> check(const SendRequest& request);
[[nodiscard]] Result<void> check(const Policy& policy);
// Returns whether a queue pair in this state takes receives of its own.
[[nodiscard]] PostResult check_receives(const QueuePairAttributes& attributes, QpState state);

}  // namespace weft::verbs::detail
