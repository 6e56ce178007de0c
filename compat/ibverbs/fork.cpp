// SPDX-License-Identifier: Apache-2.0
// fork(2) with registered memory: real adapters need care because their pages are pinned; ours are ordinary memory.
#include <cstddef>

#include "compat/entry.hpp"
#include "compat/objects/context.hpp"

WEFT_ENTRY int ibv_fork_init() { return 0; }
WEFT_ENTRY ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
WEFT_ENTRY int ibv_dontfork_range(void*, std::size_t) { return 0; }
WEFT_ENTRY int ibv_dofork_range(void*, std::size_t) { return 0; }
