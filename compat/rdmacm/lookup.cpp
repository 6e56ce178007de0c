// SPDX-License-Identifier: Apache-2.0
// Names to addresses, and all devices at once.
#include "compat/entry.hpp"
#include "compat/objects/cm.hpp"

using namespace weft;

WEFT_ENTRY int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                rdma_addrinfo** res) {
  return compat::cm_getaddrinfo(node, service, hints, res);
}
WEFT_ENTRY void rdma_freeaddrinfo(rdma_addrinfo* res) { compat::cm_freeaddrinfo(res); }

WEFT_ENTRY ibv_context** rdma_get_devices(int* num_devices) { return compat::cm_get_devices(num_devices); }
WEFT_ENTRY void rdma_free_devices(ibv_context** list) { compat::cm_free_devices(list); }
