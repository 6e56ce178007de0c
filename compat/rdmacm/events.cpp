// SPDX-License-Identifier: Apache-2.0
// Event channels and events.
#include <array>
#include <cstddef>

#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"

using namespace weft;

WEFT_ENTRY rdma_event_channel* rdma_create_event_channel() { return compat::cm_create_event_channel(); }
WEFT_ENTRY void rdma_destroy_event_channel(rdma_event_channel* channel) { compat::cm_destroy_event_channel(channel); }
WEFT_ENTRY int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  return compat::cm_get_cm_event(channel, event);
}
WEFT_ENTRY int rdma_ack_cm_event(rdma_cm_event* event) { return compat::cm_ack_cm_event(event); }

namespace {

constexpr std::array kEvents{
    "RDMA_CM_EVENT_ADDR_RESOLVED",  "RDMA_CM_EVENT_ADDR_ERROR",      "RDMA_CM_EVENT_ROUTE_RESOLVED",
    "RDMA_CM_EVENT_ROUTE_ERROR",    "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
    "RDMA_CM_EVENT_CONNECT_ERROR",  "RDMA_CM_EVENT_UNREACHABLE",     "RDMA_CM_EVENT_REJECTED",
    "RDMA_CM_EVENT_ESTABLISHED",    "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
    "RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
    "RDMA_CM_EVENT_TIMEWAIT_EXIT",
};
static_assert(kEvents.size() == RDMA_CM_EVENT_TIMEWAIT_EXIT + 1);

}  // namespace

WEFT_ENTRY const char* rdma_event_str(rdma_cm_event_type event) {
  const auto index = static_cast<std::size_t>(event);
  return index < kEvents.size() ? kEvents[index] : "UNKNOWN EVENT";
}
