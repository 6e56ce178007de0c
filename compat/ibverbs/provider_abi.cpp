// SPDX-License-Identifier: Apache-2.0
// The interface between libibverbs and hardware drivers (node IBVERBS_PRIVATE_34). Programs that are linked with a
// driver's library (libmlx5, libefa) do not load without it, and those libraries register themselves from constructors.
// No driver is ever asked for anything here, so none of this is called after that.
#include <cerrno>
#include <cstdint>

#include "compat/entry.hpp"

// Written to by drivers: a variable, not a function.
extern "C" {
extern __attribute__((visibility("default"))) bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;
}

// Runs before main(), maybe in the loader: it does nothing at all.
WEFT_ENTRY void verbs_register_driver_34() {}

WEFT_ENTRY void verbs_set_ops() {}
WEFT_ENTRY void verbs_init_cq() {}
WEFT_ENTRY void verbs_uninit_context() {}
WEFT_ENTRY void __verbs_log() {}
WEFT_ENTRY unsigned __ioctl_final_num_attrs(unsigned num_attrs, void*) { return num_attrs; }

#define NO_OBJECT(name)     \
  WEFT_ENTRY void* name() { \
    errno = EOPNOTSUPP;     \
    return nullptr;         \
  }
NO_OBJECT(_verbs_init_and_alloc_context)
NO_OBJECT(verbs_open_device)

// What a driver would have the kernel do.
#define NO_COMMAND(name) \
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

WEFT_ENTRY int ibv_cmd_poll_cq() {  // its answer is a number of completions
  errno = EOPNOTSUPP;
  return -1;
}
