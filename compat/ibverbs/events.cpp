// SPDX-License-Identifier: Apache-2.0
// Asynchronous events.
#include "compat/entry.hpp"
#include "compat/objects/context.hpp"

using namespace weft;

WEFT_DEFAULT_VERSION(ibv_get_async_event, "IBVERBS_1.1");
WEFT_ENTRY int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  return compat::get_async_event(context, event);
}

WEFT_DEFAULT_VERSION(ibv_ack_async_event, "IBVERBS_1.1");
WEFT_ENTRY void ibv_ack_async_event(ibv_async_event* event) { compat::ack_async_event(event); }
