// SPDX-License-Identifier: Apache-2.0
// Version IBVERBS_1.0 of the calls: the structures of 2006, before libibverbs 1.1. A program of that time still loads,
// and finds no device; every call fails the way that call does.
#include <cerrno>
#include <cstdint>

#include "compat/entry.hpp"

#define OLD(name) WEFT_OLDER_VERSION(old_##name, name, "IBVERBS_1.0")
#define OLD_NULL(name)            \
  OLD(name);                      \
  WEFT_ENTRY void* old_##name() { \
    errno = ENOSYS;               \
    return nullptr;               \
  }
#define OLD_ERRNO(name) \
  OLD(name);            \
  WEFT_ENTRY int old_##name() { return ENOSYS; }
#define OLD_MINUS_ONE(name)     \
  OLD(name);                    \
  WEFT_ENTRY int old_##name() { \
    errno = ENOSYS;             \
    return -1;                  \
  }
#define OLD_NOTHING(name) \
  OLD(name);              \
  WEFT_ENTRY void old_##name() {}

OLD_NULL(ibv_get_device_list)
OLD_NOTHING(ibv_free_device_list)
OLD_NULL(ibv_get_device_name)
OLD(ibv_get_device_guid);
WEFT_ENTRY std::uint64_t old_ibv_get_device_guid() { return 0; }  // the answer when there is none to be had
OLD_NULL(ibv_open_device)
OLD_MINUS_ONE(ibv_close_device)
OLD_ERRNO(ibv_query_device)
OLD_ERRNO(ibv_query_port)
OLD_MINUS_ONE(ibv_query_gid)
OLD_MINUS_ONE(ibv_query_pkey)
OLD_MINUS_ONE(ibv_get_async_event)
OLD_NOTHING(ibv_ack_async_event)

OLD_NULL(ibv_alloc_pd)
OLD_ERRNO(ibv_dealloc_pd)
OLD_NULL(ibv_reg_mr)
OLD_ERRNO(ibv_dereg_mr)

OLD_NULL(ibv_create_cq)
OLD_ERRNO(ibv_resize_cq)
OLD_ERRNO(ibv_destroy_cq)
OLD_MINUS_ONE(ibv_get_cq_event)
OLD_NOTHING(ibv_ack_cq_events)

OLD_NULL(ibv_create_srq)
OLD_ERRNO(ibv_modify_srq)
OLD_ERRNO(ibv_query_srq)
OLD_ERRNO(ibv_destroy_srq)
OLD_NULL(ibv_create_qp)
OLD_ERRNO(ibv_modify_qp)
OLD_ERRNO(ibv_query_qp)
OLD_ERRNO(ibv_destroy_qp)

OLD_NULL(ibv_create_ah)
OLD_ERRNO(ibv_destroy_ah)
OLD_ERRNO(ibv_attach_mcast)
OLD_ERRNO(ibv_detach_mcast)

// How hardware drivers of that time announced themselves.
WEFT_OLDER_VERSION(old_ibv_register_driver, ibv_register_driver, "IBVERBS_1.1");
WEFT_ENTRY void old_ibv_register_driver() {}
