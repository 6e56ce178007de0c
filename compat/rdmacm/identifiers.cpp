// SPDX-License-Identifier: Apache-2.0
// Identifiers (rdma_cm_id): making them, addressing them, asking them.
#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"
#include "compat/objects/enums.hpp"

using namespace weft;

WEFT_ENTRY int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space ps) {
  return compat::cm_create_id(channel, id, context, compat::number(ps));
}
WEFT_ENTRY int rdma_destroy_id(rdma_cm_id* id) { return compat::cm_destroy_id(id); }

WEFT_ENTRY int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* res, ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
  return compat::cm_create_ep(id, res, pd, qp_init_attr);
}
WEFT_ENTRY void rdma_destroy_ep(rdma_cm_id* id) { compat::cm_destroy_ep(id); }

WEFT_ENTRY int rdma_bind_addr(rdma_cm_id* id, sockaddr* addr) {
  return compat::cm_bind_addr(id, addr, __builtin_return_address(0));
}
WEFT_ENTRY int rdma_resolve_addr(rdma_cm_id* id, sockaddr* src_addr, sockaddr* dst_addr, int timeout_ms) {
  return compat::cm_resolve_addr(id, src_addr, dst_addr, timeout_ms);
}
WEFT_ENTRY int rdma_resolve_route(rdma_cm_id* id, int timeout_ms) { return compat::cm_resolve_route(id, timeout_ms); }

WEFT_ENTRY __be16 rdma_get_src_port(rdma_cm_id* id) { return compat::cm_get_src_port(id); }
WEFT_ENTRY __be16 rdma_get_dst_port(rdma_cm_id* id) { return compat::cm_get_dst_port(id); }

WEFT_ENTRY int rdma_set_option(rdma_cm_id* id, int level, int optname, void* optval, std::size_t optlen) {
  return compat::cm_set_option(id, level, optname, optval, optlen);
}
WEFT_ENTRY int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  return compat::cm_migrate_id(id, channel);
}
