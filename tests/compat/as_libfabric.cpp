// SPDX-License-Identifier: Apache-2.0
// A library that is called libfabric.so: what it asks of librdmacm, libfabric asks.
#include <rdma/rdma_cma.h>

extern "C" __attribute__((visibility("default"))) int bind_as_libfabric(rdma_cm_id* id, sockaddr* address);

int bind_as_libfabric(rdma_cm_id* id, sockaddr* address) {
  const volatile int answer = rdma_bind_addr(id, address);  // not the last thing: else it has another caller
  return answer;
}
