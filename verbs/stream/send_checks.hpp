// SPDX-License-Identifier: Apache-2.0
// What a send work request has to satisfy before the engine sees it: the limits of its queue pair, and its inline
// octets.
#pragma once

#include "common/wire.hpp"
#include "verbs/memory/local_work.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

[[nodiscard]] Result<void> check(const SendRequest& request, const QueuePairAttributes& limits);
// Inline octets are copied, so that lkeys play no part. They may come from anywhere in the caller's memory. `out` has
// room for `limit`. Errors: kInlineTooLong.
[[nodiscard]] Result<Bytes> copy_inline(const SendRequest& request, std::uint32_t limit, MutableBytes out);

// Returns the local work of a bind or a local invalidation, without its cookie. It keeps alive what the request names,
// because the caller's handles last only as long as its call.
[[nodiscard]] Result<LocalWork> local_work(const SendRequest& request);

}  // namespace weft::verbs::detail
