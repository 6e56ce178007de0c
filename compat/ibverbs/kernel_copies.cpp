// SPDX-License-Identifier: Apache-2.0
// Attributes as the kernel's interface lays them out, copied into libibverbs' structures and back. Connection managers
// that talk to the kernel themselves call these.
#include <infiniband/sa.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

#include <cstring>

#include "compat/entry.hpp"
#include "compat/objects/context.hpp"
#include "compat/objects/enums.hpp"

using weft::compat::set_number;

WEFT_ENTRY void ibv_copy_ah_attr_from_kern(ibv_ah_attr* dst, ib_uverbs_ah_attr* src) {
  std::memcpy(dst->grh.dgid.raw, src->grh.dgid, sizeof src->grh.dgid);
  dst->grh.flow_label = src->grh.flow_label;
  dst->grh.sgid_index = src->grh.sgid_index;
  dst->grh.hop_limit = src->grh.hop_limit;
  dst->grh.traffic_class = src->grh.traffic_class;
  dst->dlid = src->dlid;
  dst->sl = src->sl;
  dst->src_path_bits = src->src_path_bits;
  dst->static_rate = src->static_rate;
  dst->is_global = src->is_global;
  dst->port_num = src->port_num;
}

WEFT_ENTRY void ibv_copy_qp_attr_from_kern(ibv_qp_attr* dst, ib_uverbs_qp_attr* src) {
  set_number(dst->qp_state, src->qp_state);
  set_number(dst->cur_qp_state, src->cur_qp_state);
  set_number(dst->path_mtu, src->path_mtu);
  set_number(dst->path_mig_state, src->path_mig_state);
  dst->qkey = src->qkey;
  dst->rq_psn = src->rq_psn;
  dst->sq_psn = src->sq_psn;
  dst->dest_qp_num = src->dest_qp_num;
  dst->qp_access_flags = src->qp_access_flags;
  dst->cap.max_send_wr = src->max_send_wr;
  dst->cap.max_recv_wr = src->max_recv_wr;
  dst->cap.max_send_sge = src->max_send_sge;
  dst->cap.max_recv_sge = src->max_recv_sge;
  dst->cap.max_inline_data = src->max_inline_data;
  ibv_copy_ah_attr_from_kern(&dst->ah_attr, &src->ah_attr);
  ibv_copy_ah_attr_from_kern(&dst->alt_ah_attr, &src->alt_ah_attr);
  dst->pkey_index = src->pkey_index;
  dst->alt_pkey_index = src->alt_pkey_index;
  dst->en_sqd_async_notify = src->en_sqd_async_notify;
  dst->sq_draining = src->sq_draining;
  dst->max_rd_atomic = src->max_rd_atomic;
  dst->max_dest_rd_atomic = src->max_dest_rd_atomic;
  dst->min_rnr_timer = src->min_rnr_timer;
  dst->port_num = src->port_num;
  dst->timeout = src->timeout;
  dst->retry_cnt = src->retry_cnt;
  dst->rnr_retry = src->rnr_retry;
  dst->alt_port_num = src->alt_port_num;
  dst->alt_timeout = src->alt_timeout;
}

namespace {

// The members that have one name and one meaning in both path records.
template <typename To, typename From>
void copy_path(To& to, const From& from) {
  to.dlid = from.dlid;
  to.slid = from.slid;
  to.raw_traffic = static_cast<decltype(to.raw_traffic)>(from.raw_traffic);
  to.flow_label = from.flow_label;
  to.reversible = static_cast<decltype(to.reversible)>(from.reversible);
  to.mtu = static_cast<decltype(to.mtu)>(from.mtu);
  to.pkey = from.pkey;
  to.hop_limit = from.hop_limit;
  to.traffic_class = from.traffic_class;
  to.numb_path = from.numb_path;
  to.sl = from.sl;
  to.mtu_selector = from.mtu_selector;
  to.rate_selector = from.rate_selector;
  to.rate = from.rate;
  to.packet_life_time_selector = from.packet_life_time_selector;
  to.packet_life_time = from.packet_life_time;
  to.preference = from.preference;
}

}  // namespace

WEFT_ENTRY void ibv_copy_path_rec_from_kern(ibv_sa_path_rec* dst, ib_user_path_rec* src) {
  std::memcpy(dst->dgid.raw, src->dgid, sizeof src->dgid);
  std::memcpy(dst->sgid.raw, src->sgid, sizeof src->sgid);
  copy_path(*dst, *src);
}

WEFT_ENTRY void ibv_copy_path_rec_to_kern(ib_user_path_rec* dst, ibv_sa_path_rec* src) {
  std::memcpy(dst->dgid, src->dgid.raw, sizeof dst->dgid);
  std::memcpy(dst->sgid, src->sgid.raw, sizeof dst->sgid);
  copy_path(*dst, *src);
}
