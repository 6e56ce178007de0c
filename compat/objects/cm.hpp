// SPDX-License-Identifier: Apache-2.0
// librdmacm, but for rsockets: each function is rdma_cma.h's rdma_* of the same name, with its parameters and results.
// They answer 0, or -1 with errno set; those that return a pointer, null with errno set. Those that are not noexcept
// wait for an event, at least with an identifier of synchronous operation, and may be canceled in that
// (cancellation.hpp).
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>

namespace weft::compat {

// --- Event channels and events (cm_channel.cpp, cm_event_str.cpp)
rdma_event_channel* cm_create_event_channel() noexcept;
void cm_destroy_event_channel(rdma_event_channel* channel) noexcept;
int cm_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event);
int cm_ack_cm_event(rdma_cm_event* event) noexcept;
const char* cm_event_str(std::int64_t event) noexcept;  // any number

// --- Identifiers (cm_id.cpp)
int cm_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, std::int64_t space) noexcept;
// Waits until every event about the identifier has been acknowledged.
int cm_destroy_id(rdma_cm_id* id) noexcept;
int cm_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) noexcept;
int cm_set_option(rdma_cm_id* id, int level, int name, void* value, size_t length) noexcept;

// --- Addresses (cm_address.cpp, cm_address_info.cpp)
// `caller`: an address in the code that called rdma_bind_addr; null: none of interest.
int cm_bind_addr(rdma_cm_id* id, sockaddr* address, const void* caller = nullptr) noexcept;
int cm_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int timeout_ms);
int cm_resolve_route(rdma_cm_id* id, int timeout_ms);
int cm_listen(rdma_cm_id* id, int backlog) noexcept;
__be16 cm_get_src_port(rdma_cm_id* id) noexcept;
__be16 cm_get_dst_port(rdma_cm_id* id) noexcept;
// Returns 0, an EAI_* code, or -1 with errno set.
int cm_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints, rdma_addrinfo** result) noexcept;
void cm_freeaddrinfo(rdma_addrinfo* list) noexcept;

// --- Endpoints: identifiers of synchronous operation with all that belongs to them (cm_endpoint.cpp)
int cm_create_ep(rdma_cm_id** id, rdma_addrinfo* at, ibv_pd* pd, ibv_qp_init_attr* attributes);
void cm_destroy_ep(rdma_cm_id* id) noexcept;
int cm_get_request(rdma_cm_id* listener, rdma_cm_id** id);

// --- Queue pairs (cm_queue_pair.cpp, cm_shared_queue.cpp)
int cm_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attributes) noexcept;
int cm_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attributes) noexcept;
void cm_destroy_qp(rdma_cm_id* id) noexcept;
int cm_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attributes) noexcept;
int cm_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attributes) noexcept;
void cm_destroy_srq(rdma_cm_id* id) noexcept;

// --- Connections (cm_connect.cpp)
int cm_connect(rdma_cm_id* id, rdma_conn_param* parameters);
int cm_accept(rdma_cm_id* id, rdma_conn_param* parameters);
int cm_reject(rdma_cm_id* id, const void* private_data, uint8_t private_data_len) noexcept;
int cm_reject_ece(rdma_cm_id* id, const void* private_data, uint8_t private_data_len) noexcept;
int cm_disconnect(rdma_cm_id* id);

// --- For programs that move their queue pairs themselves (cm_self_managed.cpp)
int cm_establish(rdma_cm_id* id) noexcept;
int cm_notify(rdma_cm_id* id) noexcept;
int cm_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attributes, int* mask) noexcept;

// --- Devices (cm_devices.cpp)
ibv_context** cm_get_devices(int* count) noexcept;
void cm_free_devices(ibv_context** list) noexcept;

}  // namespace weft::compat
