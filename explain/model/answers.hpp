// SPDX-License-Identifier: Apache-2.0
// Which message answers which: Responses their Requests, a Terminate the segment that it refuses.
#pragma once

namespace weft::explain {

struct Connection;

/// Fills in MessageView::answers and Effect::refused.
void match_answers(Connection& connection);

}  // namespace weft::explain
