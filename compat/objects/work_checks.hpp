// SPDX-License-Identifier: Apache-2.0
// The engine posts what precedes a request that it refuses, but ibv_wr_complete posts all or nothing: so what it would
// refuse is looked for before.
#pragma once

#include <span>

#include "verbs/queue_pair.hpp"

namespace weft::compat {

// RDMA Reads and atomics.
[[nodiscard]] bool awaits_answer(verbs::SendOpcode opcode) noexcept;

// For requests with opcodes and flags that the engine knows, and as long as no other thread posts to the queue pair.
[[nodiscard]] verbs::Result<void> check_list(std::span<const verbs::SendRequest> requests,
                                             const verbs::QueuePair& engine);

}  // namespace weft::compat
