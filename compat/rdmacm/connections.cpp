// SPDX-License-Identifier: Apache-2.0
// Connecting, listening and ending; multicast groups.
#include <cstdint>

#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"
#include "compat/objects/cm_multicast.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

WEFT_ENTRY int rdma_connect(rdma_cm_id* id, rdma_conn_param* conn_param) { return compat::cm_connect(id, conn_param); }
WEFT_ENTRY int rdma_establish(rdma_cm_id* id) { return compat::cm_establish(id); }
WEFT_ENTRY int rdma_listen(rdma_cm_id* id, int backlog) { return compat::cm_listen(id, backlog); }
WEFT_ENTRY int rdma_get_request(rdma_cm_id* listen, rdma_cm_id** id) { return compat::cm_get_request(listen, id); }
WEFT_ENTRY int rdma_accept(rdma_cm_id* id, rdma_conn_param* conn_param) { return compat::cm_accept(id, conn_param); }
WEFT_ENTRY int rdma_reject(rdma_cm_id* id, const void* private_data, std::uint8_t private_data_len) {
  return compat::cm_reject(id, private_data, private_data_len);
}
// MPA has no reasons for a rejection besides the one.
WEFT_ENTRY int rdma_reject_ece(rdma_cm_id* id, const void* private_data, std::uint8_t private_data_len) {
  return compat::cm_reject(id, private_data, private_data_len);
}
// The event is not looked at: it may have any value.
WEFT_ENTRY int rdma_notify(rdma_cm_id* id, ibv_event_type) { return compat::cm_notify(id); }
WEFT_ENTRY int rdma_disconnect(rdma_cm_id* id) { return compat::cm_disconnect(id); }

WEFT_ENTRY int rdma_join_multicast(rdma_cm_id* id, sockaddr* addr, void* context) {
  return compat::cm_join_multicast(id, addr, RDMA_MC_JOIN_FLAG_FULLMEMBER, context);
}
WEFT_ENTRY int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* wanted, void* context) {
  constexpr std::uint32_t kBoth = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  if (wanted == nullptr || wanted->comp_mask != kBoth) {
    return compat::refused_minus_one("rdma_join_multicast_ex", EINVAL, "mc_join_attr: an address and flags are needed");
  }
  return compat::cm_join_multicast(id, wanted->addr, wanted->join_flags, context);
}
WEFT_ENTRY int rdma_leave_multicast(rdma_cm_id* id, sockaddr* addr) { return compat::cm_leave_multicast(id, addr); }
