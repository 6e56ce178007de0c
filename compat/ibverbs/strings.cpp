// SPDX-License-Identifier: Apache-2.0
// Enumerators in words. Logs and scripts of users search for exactly these.
#include <array>
#include <cstddef>
#include <cstdint>

#include "compat/entry.hpp"
#include "compat/objects/context.hpp"
#include "compat/objects/enums.hpp"

using weft::compat::number;

namespace {

template <std::size_t Count>
const char* word(const std::array<const char*, Count>& words, std::int64_t value) {
  if (value < 0 || static_cast<std::size_t>(value) >= Count) return "unknown";
  return words[static_cast<std::size_t>(value)];
}

constexpr std::array kStatuses{
    "success",
    "local length error",
    "local QP operation error",
    "local EE context operation error",
    "local protection error",
    "Work Request Flushed Error",
    "memory management operation error",
    "bad response error",
    "local access error",
    "remote invalid request error",
    "remote access error",
    "remote operation error",
    "transport retry counter exceeded",
    "RNR retry counter exceeded",
    "local RDD violation error",
    "remote invalid RD request",
    "aborted error",
    "invalid EE context number",
    "invalid EE context state",
    "fatal error",
    "response timeout error",
    "general error",
    "TM error",
    "TM software rendezvous",
};
static_assert(kStatuses.size() == IBV_WC_TM_RNDV_INCOMPLETE + 1);

constexpr std::array kEvents{
    "CQ error",
    "local work queue catastrophic error",
    "invalid request local work queue error",
    "local access violation work queue error",
    "communication established",
    "send queue drained",
    "path migrated",
    "path migration request error",
    "local catastrophic error",
    "port active",
    "port error",
    "LID change",
    "P_Key change",
    "SM change",
    "SRQ catastrophic error",
    "SRQ limit reached",
    "last WQE reached",
    "client reregistration",
    "GID table change",
    "WQ fatal",
    "device speed change",  // since rdma-core 62
};
static_assert(kEvents.size() == IBV_EVENT_WQ_FATAL + 2);

constexpr std::array kPortStates{"no state change (NOP)", "down", "init", "armed", "active", "active defer"};
static_assert(kPortStates.size() == IBV_PORT_ACTIVE_DEFER + 1);

constexpr std::array kNodes{"unknown",           "InfiniBand channel adapter",
                            "InfiniBand switch", "InfiniBand router",
                            "iWARP NIC",         "usNIC",
                            "usNIC UDP",         "unspecified"};
static_assert(kNodes.size() == IBV_NODE_UNSPECIFIED + 1);

}  // namespace

WEFT_ENTRY const char* ibv_wc_status_str(ibv_wc_status status) { return word(kStatuses, number(status)); }
WEFT_ENTRY const char* ibv_event_type_str(ibv_event_type event) { return word(kEvents, number(event)); }
WEFT_ENTRY const char* ibv_port_state_str(ibv_port_state port_state) { return word(kPortStates, number(port_state)); }
WEFT_ENTRY const char* ibv_node_type_str(ibv_node_type node_type) { return word(kNodes, number(node_type)); }
