// SPDX-License-Identifier: Apache-2.0
// The interface between libibverbs and hardware drivers (node IBVERBS_PRIVATE_34 of rdma-core 34 to 50, and
// IBVERBS_PRIVATE_65 of 65). Programs that are linked with a
// driver's library (libmlx5, libefa) do not load without it, and those libraries register themselves from constructors.
// No driver is ever asked for anything here, so none of this is called after that.
#include <cerrno>
#include <cstdint>

#include "compat/entry.hpp"

// A name of both nodes.
#define IN_BOTH(name)                               \
  WEFT_DEFAULT_VERSION(name, "IBVERBS_PRIVATE_34"); \
  WEFT_OLDER_VERSION(newer_##name, name, "IBVERBS_PRIVATE_65")

// Written to by drivers: a variable, not a function. AddressSanitizer would define the name of a variable that it
// watches once more.
#ifdef __clang__
#define UNWATCHED __attribute__((visibility("default"), no_sanitize_address))
#else
#define UNWATCHED __attribute__((visibility("default")))
#endif
extern "C" {
extern UNWATCHED bool verbs_allow_disassociate_destroy;
extern UNWATCHED bool newer_verbs_allow_disassociate_destroy;
IN_BOTH(verbs_allow_disassociate_destroy);
bool verbs_allow_disassociate_destroy = false;
bool newer_verbs_allow_disassociate_destroy = false;
}

// They run before main(), maybe in the loader: they do nothing at all.
WEFT_ENTRY void verbs_register_driver_34() {}
WEFT_ENTRY void verbs_register_driver_65() {}

#define NOTHING(name)       \
  IN_BOTH(name);            \
  WEFT_ENTRY void name() {} \
  WEFT_ENTRY void newer_##name() {}
NOTHING(verbs_set_ops)
NOTHING(verbs_init_cq)
NOTHING(verbs_uninit_context)
NOTHING(__verbs_log)

IN_BOTH(__ioctl_final_num_attrs);
WEFT_ENTRY unsigned __ioctl_final_num_attrs(unsigned num_attrs, void*) { return num_attrs; }
WEFT_ENTRY unsigned newer___ioctl_final_num_attrs(unsigned num_attrs, void*) { return num_attrs; }

#define NO_OBJECT(name)             \
  IN_BOTH(name);                    \
  WEFT_ENTRY void* newer_##name() { \
    errno = EOPNOTSUPP;             \
    return nullptr;                 \
  }                                 \
  WEFT_ENTRY void* name() { return newer_##name(); }
NO_OBJECT(_verbs_init_and_alloc_context)
NO_OBJECT(verbs_open_device)

// What a driver would have the kernel do.
#define NO_COMMAND(name)                               \
  IN_BOTH(name);                                       \
  WEFT_ENTRY int newer_##name() { return EOPNOTSUPP; } \
  WEFT_ENTRY int name() { return EOPNOTSUPP; }
NO_COMMAND(execute_ioctl)
NO_COMMAND(ibv_cmd_advise_mr)
NO_COMMAND(ibv_cmd_alloc_dm)
NO_COMMAND(ibv_cmd_alloc_mw)
NO_COMMAND(ibv_cmd_alloc_pd)
NO_COMMAND(ibv_cmd_attach_mcast)
NO_COMMAND(ibv_cmd_close_xrcd)
NO_COMMAND(ibv_cmd_create_ah)
NO_COMMAND(ibv_cmd_create_counters)
NO_COMMAND(ibv_cmd_create_cq)
NO_COMMAND(ibv_cmd_create_cq_ex)
NO_COMMAND(ibv_cmd_create_flow)
NO_COMMAND(ibv_cmd_create_flow_action_esp)
NO_COMMAND(ibv_cmd_create_qp)
NO_COMMAND(ibv_cmd_create_qp_ex)
NO_COMMAND(ibv_cmd_create_qp_ex2)
NO_COMMAND(ibv_cmd_create_rwq_ind_table)
NO_COMMAND(ibv_cmd_create_srq)
NO_COMMAND(ibv_cmd_create_srq_ex)
NO_COMMAND(ibv_cmd_create_wq)
NO_COMMAND(ibv_cmd_dealloc_mw)
NO_COMMAND(ibv_cmd_dealloc_pd)
NO_COMMAND(ibv_cmd_dereg_mr)
NO_COMMAND(ibv_cmd_destroy_ah)
NO_COMMAND(ibv_cmd_destroy_counters)
NO_COMMAND(ibv_cmd_destroy_cq)
NO_COMMAND(ibv_cmd_destroy_flow)
NO_COMMAND(ibv_cmd_destroy_flow_action)
NO_COMMAND(ibv_cmd_destroy_qp)
NO_COMMAND(ibv_cmd_destroy_rwq_ind_table)
NO_COMMAND(ibv_cmd_destroy_srq)
NO_COMMAND(ibv_cmd_destroy_wq)
NO_COMMAND(ibv_cmd_detach_mcast)
NO_COMMAND(ibv_cmd_free_dm)
NO_COMMAND(ibv_cmd_get_context)
NO_COMMAND(ibv_cmd_modify_cq)
NO_COMMAND(ibv_cmd_modify_flow_action_esp)
NO_COMMAND(ibv_cmd_modify_qp)
NO_COMMAND(ibv_cmd_modify_qp_ex)
NO_COMMAND(ibv_cmd_modify_srq)
NO_COMMAND(ibv_cmd_modify_wq)
NO_COMMAND(ibv_cmd_open_qp)
NO_COMMAND(ibv_cmd_open_xrcd)
NO_COMMAND(ibv_cmd_post_recv)
NO_COMMAND(ibv_cmd_post_send)
NO_COMMAND(ibv_cmd_post_srq_recv)
NO_COMMAND(ibv_cmd_query_context)
NO_COMMAND(ibv_cmd_query_device_any)
NO_COMMAND(ibv_cmd_query_mr)
NO_COMMAND(ibv_cmd_query_port)
NO_COMMAND(ibv_cmd_query_qp)
NO_COMMAND(ibv_cmd_query_srq)
NO_COMMAND(ibv_cmd_read_counters)
NO_COMMAND(ibv_cmd_reg_dm_mr)
NO_COMMAND(ibv_cmd_reg_dmabuf_mr)
NO_COMMAND(ibv_cmd_reg_mr)
NO_COMMAND(ibv_cmd_req_notify_cq)
NO_COMMAND(ibv_cmd_rereg_mr)
NO_COMMAND(ibv_cmd_resize_cq)

// Functions that only the newer version node has.
#define NO_NEWER_COMMAND(name) \
  WEFT_ENTRY int name() { return EOPNOTSUPP; }
NO_NEWER_COMMAND(ibv_cmd_alloc_dmah)
NO_NEWER_COMMAND(ibv_cmd_create_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_create_cq_ex2)
NO_NEWER_COMMAND(ibv_cmd_destroy_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_export_dmabuf_fd)
NO_NEWER_COMMAND(ibv_cmd_free_dmah)
NO_NEWER_COMMAND(ibv_cmd_inc_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_inc_err_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_qp_attach_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_query_comp_cntr_caps)
NO_NEWER_COMMAND(ibv_cmd_query_port_speed)
NO_NEWER_COMMAND(ibv_cmd_read_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_read_err_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_reg_mr_ex)
NO_NEWER_COMMAND(ibv_cmd_set_comp_cntr)
NO_NEWER_COMMAND(ibv_cmd_set_err_comp_cntr)

WEFT_ENTRY void* ibv_dmabuf_heap_cc_shared_init() {
  errno = EOPNOTSUPP;
  return nullptr;
}
WEFT_ENTRY void* ibv_dmabuf_heap_alloc() {
  errno = EOPNOTSUPP;
  return nullptr;
}
WEFT_ENTRY void ibv_dmabuf_heap_free() {}
WEFT_ENTRY void ibv_dmabuf_heap_destroy() {}
WEFT_ENTRY const char* ibv_wr_opcode_str() { return "unknown"; }

IN_BOTH(ibv_cmd_poll_cq);
WEFT_ENTRY int newer_ibv_cmd_poll_cq() {  // its answer is a number of completions
  errno = EOPNOTSUPP;
  return -1;
}
WEFT_ENTRY int ibv_cmd_poll_cq() { return newer_ibv_cmd_poll_cq(); }
