// SPDX-License-Identifier: Apache-2.0
// What librdmacm has had since rdma-core 44, whose headers weft is built with: RDMACM_1.4 (1.5 is in rsocket.cpp). A
// program that names one of these has to load, and is told ENOSYS.
#include <cerrno>

#include "compat/entry.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

#define NOT_HERE(name)                                                                        \
  WEFT_ENTRY_NAMED(int, weft_##name, name) {                                                  \
    return compat::refused_minus_one(#name, ENOSYS, "of a later librdmacm, and not in weft"); \
  }

// --- 1.4 (rdma-core 57): addresses that a service resolves, and events of a program's own
NOT_HERE(rdma_resolve_addrinfo)
NOT_HERE(rdma_query_addrinfo)
NOT_HERE(rdma_write_cm_event)
