// SPDX-License-Identifier: Apache-2.0
// The attributes of ibv_modify_qp: which values are possible, and which attributes each change of state takes.
#pragma once

#include <infiniband/verbs.h>

namespace weft::compat {

// What only a program names that connects the queue pair itself: rdma_init_qp_attr asks for none of these.
inline constexpr int kByProgram = IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN;

// Copies the attributes in `mask`.
void take_over(ibv_qp_attr& to, const ibv_qp_attr& from, int mask);

// Each returns 0, or the errno of ibv_modify_qp, which it has logged.
[[nodiscard]] int check_values(const ibv_qp_attr& wanted, int mask);
// What the kernel's drivers demand (ib_modify_qp_is_ok). Not for a queue pair of the connection manager: on an iWARP
// device that one takes other attributes.
[[nodiscard]] int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask);

}  // namespace weft::compat
