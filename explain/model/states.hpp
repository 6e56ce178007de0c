// SPDX-License-Identifier: Apache-2.0
// The state of each end from row to row: what its queues expect next, and which requests are under way.
#pragma once

namespace weft::explain {

struct Connection;

/// Fills in Connection::states and what rows say of them. Messages and refusals are known.
void follow_states(Connection& connection);

}  // namespace weft::explain
