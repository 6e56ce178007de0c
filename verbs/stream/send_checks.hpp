// SPDX-License-Identifier: Apache-2.0
// What a send work request has to satisfy before the engine sees it: the limits of its queue pair, and its inline octets.
#pragma once

#include "common/wire.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

[[nodiscard]] Result<void> check(const SendRequest& request, const QueuePairAttributes& limits);
// How many octets an inline request has. Errors: kInlineTooLong.
[[nodiscard]] Result<std::size_t> inline_octets(const SendRequest& request, std::uint32_t limit);
// Copies them, so that lkeys play no part: they may come from anywhere in the caller's memory. `out` has room.
void copy_inline(const SendRequest& request, MutableBytes out);

}  // namespace weft::verbs::detail
