// SPDX-License-Identifier: Apache-2.0
// For programs that take their queue pairs through the states themselves. On iWARP that is the connection's doing, so
// little is left of these calls.
#include <bit>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/datagrams.hpp"
#include "compat/objects/enums.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

// Answers a CONNECT_RESPONSE. The connection is established by then, so that nothing is left to do.
int cm_establish(rdma_cm_id* id) noexcept {
  return id != nullptr ? 0 : refused_minus_one("rdma_establish", EINVAL, "id is null");
}

// Forwards IBV_EVENT_COMM_EST to the connection manager, which on iWARP knows by itself.
int cm_notify(rdma_cm_id* id) noexcept {
  return id != nullptr ? 0 : refused_minus_one("rdma_notify", EINVAL, "id is null");
}

// attributes->qp_state says for which state, and stays. The path to the peer has no bit in *mask: with these bits
// ibv_modify_qp would make a connection of its own (compat/direct). UCX reads it, and asks for no bit.
int cm_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attributes, int* mask) noexcept {
  if (id == nullptr || attributes == nullptr || mask == nullptr) {
    return refused_minus_one("rdma_init_qp_attr", EINVAL, "null pointer");
  }
  const std::int64_t towards = number(attributes->qp_state);
  *mask = IBV_QP_STATE;
  const bool datagrams = has_datagrams(of(id));
  if (datagrams && towards == IBV_QPS_RTS) {
    attributes->sq_psn = 0;
    *mask |= IBV_QP_SQ_PSN;
  }
  if (datagrams && towards == IBV_QPS_INIT) {
    attributes->qkey = RDMA_UDP_QKEY;
    *mask |= IBV_QP_QKEY;
  }
  if (!datagrams && (towards == IBV_QPS_INIT || towards == IBV_QPS_RTR)) {
    attributes->qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    *mask |= IBV_QP_ACCESS_FLAGS;
  }
  if (!datagrams && towards == IBV_QPS_RTR) {
    const auto peer = of(id).engine.remote_address().address.to_ipv6();
    attributes->ah_attr = path_to(std::bit_cast<ibv_gid>(peer), id->port_num);
    attributes->path_mtu = IBV_MTU_1024;
  }
  if (towards == IBV_QPS_INIT) {
    attributes->port_num = id->port_num;
    attributes->pkey_index = 0;
    *mask |= IBV_QP_PORT | IBV_QP_PKEY_INDEX;
  }
  return 0;
}

}  // namespace weft::compat
