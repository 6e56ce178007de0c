// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/queue_pair_attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "compat/objects/enums.hpp"
#include "compat/objects/report.hpp"
#include "verbs/device.hpp"

namespace weft::compat {

namespace {

constexpr std::string_view kModifyQp = "ibv_modify_qp";
constexpr std::uint32_t kHighestQpNumber = 0xFFFFFF;

// --- Changes of state

constexpr unsigned kRc = 1, kUc = 2, kUd = 4;

unsigned bit_of(std::int64_t type) { return type == IBV_QPT_UD ? kUd : type == IBV_QPT_UC ? kUc : kRc; }

struct Transition {
  unsigned types;
  ibv_qp_state from, to;
  int needed, also;  // what else it takes
};

constexpr int kWhere = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int kRtrAlso = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
constexpr int kUdInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
constexpr int kUdRtsAlso = IBV_QP_CUR_STATE | IBV_QP_QKEY;
constexpr int kUcRtsAlso = IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE;
constexpr int kRcRtsAlso = kUcRtsAlso | IBV_QP_MIN_RNR_TIMER;
constexpr int kRetries = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kUcSqdAlso =
    IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE;
constexpr int kRcSqdAlso = kUcSqdAlso | IBV_QP_PORT | kRetries | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

// RESET to INIT is not here for RC and UC: nothing says by then who connects the queue pair.
constexpr Transition kTransitions[]{
    {kUd, IBV_QPS_RESET, IBV_QPS_INIT, kUdInit, 0},
    {kUd, IBV_QPS_INIT, IBV_QPS_INIT, 0, kUdInit},
    {kUd, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {kUd, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, kUdRtsAlso},
    {kUd, IBV_QPS_RTS, IBV_QPS_RTS, 0, kUdRtsAlso},
    {kUd, IBV_QPS_SQE, IBV_QPS_RTS, 0, kUdRtsAlso},
    {kUc, IBV_QPS_INIT, IBV_QPS_RTR, kWhere, kRtrAlso},
    {kRc, IBV_QPS_INIT, IBV_QPS_RTR, kWhere | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, kRtrAlso},
    {kUc, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, kUcRtsAlso},
    {kRc, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN | kRetries, kRcRtsAlso},
    {kUc, IBV_QPS_RTS, IBV_QPS_RTS, 0, kUcRtsAlso},
    {kRc, IBV_QPS_RTS, IBV_QPS_RTS, 0, kRcRtsAlso},
    {kRc | kUc, IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {kUc, IBV_QPS_SQD, IBV_QPS_RTS, 0, kUcRtsAlso},
    {kRc, IBV_QPS_SQD, IBV_QPS_RTS, 0, kRcRtsAlso},
    {kUc, IBV_QPS_SQD, IBV_QPS_SQD, 0, kUcSqdAlso},
    {kRc, IBV_QPS_SQD, IBV_QPS_SQD, 0, kRcSqdAlso},
};

constexpr std::string_view kStates[]{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

std::string names_of(int mask) {
  constexpr std::pair<int, std::string_view> kNames[]{{IBV_QP_CUR_STATE, "cur_qp_state"},
                                                      {IBV_QP_EN_SQD_ASYNC_NOTIFY, "en_sqd_async_notify"},
                                                      {IBV_QP_ACCESS_FLAGS, "qp_access_flags"},
                                                      {IBV_QP_PKEY_INDEX, "pkey_index"},
                                                      {IBV_QP_PORT, "port_num"},
                                                      {IBV_QP_QKEY, "qkey"},
                                                      {IBV_QP_AV, "ah_attr"},
                                                      {IBV_QP_PATH_MTU, "path_mtu"},
                                                      {IBV_QP_TIMEOUT, "timeout"},
                                                      {IBV_QP_RETRY_CNT, "retry_cnt"},
                                                      {IBV_QP_RNR_RETRY, "rnr_retry"},
                                                      {IBV_QP_RQ_PSN, "rq_psn"},
                                                      {IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic"},
                                                      {IBV_QP_ALT_PATH, "alt_ah_attr"},
                                                      {IBV_QP_MIN_RNR_TIMER, "min_rnr_timer"},
                                                      {IBV_QP_SQ_PSN, "sq_psn"},
                                                      {IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic"},
                                                      {IBV_QP_PATH_MIG_STATE, "path_mig_state"},
                                                      {IBV_QP_CAP, "cap"},
                                                      {IBV_QP_DEST_QPN, "dest_qp_num"}};
  std::string names;
  for (const auto& [bit, name] : kNames) {
    if ((mask & bit) != 0) names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

}  // namespace

void take_over(ibv_qp_attr& to, const ibv_qp_attr& from, int mask) {
  const auto take = [&](int bit, auto member) {
    if ((mask & bit) != 0) std::memcpy(&(to.*member), &(from.*member), sizeof(to.*member));
  };
  take(IBV_QP_EN_SQD_ASYNC_NOTIFY, &ibv_qp_attr::en_sqd_async_notify);
  take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  take(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
  take(IBV_QP_PORT, &ibv_qp_attr::port_num);
  take(IBV_QP_QKEY, &ibv_qp_attr::qkey);
  take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  take(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
  take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
  take(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
  take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  take(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
  take(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
}

// What has a few bits on the wire of an adapter, or names what a device has one of.
int check_values(const ibv_qp_attr& wanted, int mask) {
  if (const std::int64_t to = number(wanted.qp_state);
      (mask & IBV_QP_STATE) != 0 && (to < IBV_QPS_RESET || to > IBV_QPS_ERR || to == IBV_QPS_SQE)) {
    return refused(kModifyQp, EINVAL, "no such state");
  }
  constexpr int kStandard = (IBV_QP_DEST_QPN << 1) - 1;
  if ((mask & ~kStandard) != 0) return refused(kModifyQp, EOPNOTSUPP, "attr_mask: no such attribute");
  struct Bound {
    int bit;
    std::int64_t value, least, most;
    std::string_view reason;
  };
  const Bound bounds[]{
      {IBV_QP_PORT, wanted.port_num, 1, 1, "port_num: every device has one port: 1"},
      {IBV_QP_PKEY_INDEX, wanted.pkey_index, 0, 0, "pkey_index: there is P_Key 0 alone"},
      {IBV_QP_PATH_MTU, number(wanted.path_mtu), IBV_MTU_256, IBV_MTU_4096, "path_mtu: no such size"},
      {IBV_QP_DEST_QPN, wanted.dest_qp_num, 0, kHighestQpNumber, "dest_qp_num: more than 24 bits"},
      {IBV_QP_TIMEOUT, wanted.timeout, 0, 31, "timeout: more than 5 bits"},
      {IBV_QP_MIN_RNR_TIMER, wanted.min_rnr_timer, 0, 31, "min_rnr_timer: more than 5 bits"},
      {IBV_QP_RETRY_CNT, wanted.retry_cnt, 0, 7, "retry_cnt: more than 3 bits"},
      {IBV_QP_RNR_RETRY, wanted.rnr_retry, 0, 7, "rnr_retry: more than 3 bits"},
      {IBV_QP_MAX_QP_RD_ATOMIC, wanted.max_rd_atomic, 0, verbs::Device::limits().max_ord,
       "max_rd_atomic: larger than the device's limit"},
      {IBV_QP_MAX_DEST_RD_ATOMIC, wanted.max_dest_rd_atomic, 0, verbs::Device::limits().max_ird,
       "max_dest_rd_atomic: larger than the device's limit"},
  };
  for (const Bound& one : bounds) {
    if ((mask & one.bit) != 0 && (one.value < one.least || one.value > one.most))
      return refused(kModifyQp, EINVAL, one.reason);
  }
  return 0;
}

int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) {
  const auto refuse = [&](std::string_view what, int which) {
    std::string reason("from ");
    reason.append(kStates[from]).append(" to ").append(kStates[to]).append(": ").append(what).append(names_of(which));
    return refused(kModifyQp, EINVAL, reason);
  };
  const bool from_any = to == IBV_QPS_RESET || to == IBV_QPS_ERR;
  const Transition ends{bit_of(type), from, to, 0, 0};
  const auto* const found = std::ranges::find_if(kTransitions, [&](const Transition& one) {
    return (one.types & bit_of(type)) != 0 && one.from == from && one.to == to;
  });
  if (found == std::end(kTransitions) && !from_any) return refuse("there is no such transition", 0);
  const Transition& one = from_any ? ends : *found;
  if (const int missing = one.needed & ~mask; missing != 0) return refuse("it needs ", missing);
  if (const int more = mask & ~(one.needed | one.also | IBV_QP_STATE); more != 0)
    return refuse("it does not take ", more);
  return 0;
}

}  // namespace weft::compat
