// SPDX-License-Identifier: Apache-2.0
// The effect of a signal on a wait for an event. A read() of the descriptor continues after a handler with SA_RESTART;
// a wait for sockets never does.
#pragma once

namespace weft::verbs::detail {

// The kernel does not tell which signal it was, so the wait goes on when all handlers of the process were set so.
[[nodiscard]] bool every_handler_restarts() noexcept;

}  // namespace weft::verbs::detail
