// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/cm.hpp"

namespace weft::compat {

const char* cm_event_str(std::int64_t event) noexcept {
  switch (event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: return "RDMA_CM_EVENT_ADDR_RESOLVED";
    case RDMA_CM_EVENT_ADDR_ERROR: return "RDMA_CM_EVENT_ADDR_ERROR";
    case RDMA_CM_EVENT_ROUTE_RESOLVED: return "RDMA_CM_EVENT_ROUTE_RESOLVED";
    case RDMA_CM_EVENT_ROUTE_ERROR: return "RDMA_CM_EVENT_ROUTE_ERROR";
    case RDMA_CM_EVENT_CONNECT_REQUEST: return "RDMA_CM_EVENT_CONNECT_REQUEST";
    case RDMA_CM_EVENT_CONNECT_RESPONSE: return "RDMA_CM_EVENT_CONNECT_RESPONSE";
    case RDMA_CM_EVENT_CONNECT_ERROR: return "RDMA_CM_EVENT_CONNECT_ERROR";
    case RDMA_CM_EVENT_UNREACHABLE: return "RDMA_CM_EVENT_UNREACHABLE";
    case RDMA_CM_EVENT_REJECTED: return "RDMA_CM_EVENT_REJECTED";
    case RDMA_CM_EVENT_ESTABLISHED: return "RDMA_CM_EVENT_ESTABLISHED";
    case RDMA_CM_EVENT_DISCONNECTED: return "RDMA_CM_EVENT_DISCONNECTED";
    case RDMA_CM_EVENT_DEVICE_REMOVAL: return "RDMA_CM_EVENT_DEVICE_REMOVAL";
    case RDMA_CM_EVENT_MULTICAST_JOIN: return "RDMA_CM_EVENT_MULTICAST_JOIN";
    case RDMA_CM_EVENT_MULTICAST_ERROR: return "RDMA_CM_EVENT_MULTICAST_ERROR";
    case RDMA_CM_EVENT_ADDR_CHANGE: return "RDMA_CM_EVENT_ADDR_CHANGE";
    case RDMA_CM_EVENT_TIMEWAIT_EXIT: return "RDMA_CM_EVENT_TIMEWAIT_EXIT";
    // Since rdma-core 57 (rdma_resolve_addrinfo, rdma_write_cm_event); the last one is for its own use.
    case RDMA_CM_EVENT_TIMEWAIT_EXIT + 1: return "RDMA_CM_EVENT_ADDRINFO_RESOLVED";
    case RDMA_CM_EVENT_TIMEWAIT_EXIT + 2: return "RDMA_CM_EVENT_ADDRINFO_ERROR";
    case RDMA_CM_EVENT_TIMEWAIT_EXIT + 3: return "RDMA_CM_EVENT_USER";
    case RDMA_CM_EVENT_TIMEWAIT_EXIT + 4: return "RDMA_CM_EVENT_INTERNAL";
    default: break;
  }
  return "UNKNOWN EVENT";
}

}  // namespace weft::compat
