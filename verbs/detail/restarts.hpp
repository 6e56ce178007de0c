// SPDX-License-Identifier: Apache-2.0
// What a signal does to a wait for an event. A read() of the descriptor goes on behind a handler set with SA_RESTART; a
// wait for sockets never does.
#pragma once

namespace weft::verbs::detail {

// The kernel does not tell which signal it was, so the wait goes on when all handlers of the process were set so.
[[nodiscard]] bool every_handler_restarts() noexcept;

}  // namespace weft::verbs::detail
