// SPDX-License-Identifier: Apache-2.0
// The monotonic clock, read by the drivers of engines and never by the engines.
#pragma once

#include "common/instant.hpp"

namespace weft::verbs::detail {

[[nodiscard]] Instant now() noexcept;
// No earlier, as long as the kernel ticks when it should, and later by a tick at most (1 to 10 ms), for a sixth of the
// price: each message asks twice. For timeouts of seconds.
[[nodiscard]] Instant about_now() noexcept;

}  // namespace weft::verbs::detail
