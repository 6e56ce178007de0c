// SPDX-License-Identifier: Apache-2.0
// Event channels and events.
#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"
#include "compat/objects/enums.hpp"

using namespace weft;

WEFT_ENTRY rdma_event_channel* rdma_create_event_channel() { return compat::cm_create_event_channel(); }
WEFT_ENTRY void rdma_destroy_event_channel(rdma_event_channel* channel) { compat::cm_destroy_event_channel(channel); }
WEFT_ENTRY int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  return compat::cm_get_cm_event(channel, event);
}
WEFT_ENTRY int rdma_ack_cm_event(rdma_cm_event* event) { return compat::cm_ack_cm_event(event); }

WEFT_ENTRY const char* rdma_event_str(rdma_cm_event_type event) { return compat::cm_event_str(compat::number(event)); }
