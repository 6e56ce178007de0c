// SPDX-License-Identifier: Apache-2.0
// ibv_modify_qp and ibv_query_qp. A program that uses the connection manager needs little of them. One that connects its
// queue pairs itself takes each from INIT to RTR, where it names the peer, and on to RTS: compat/direct makes the
// connection.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "compat/direct/connections.hpp"
#include "compat/objects/caller.hpp"
#include "compat/objects/datagrams.hpp"
#include "compat/objects/enums.hpp"
#include "compat/objects/queue_pair.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat {

namespace {

using direct::Connections;

constexpr std::string_view kCall = "ibv_modify_qp";

// --- Attributes

// What a mask names, of `from`.
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

constexpr std::uint32_t kHighestNumber = 0xFFFFFF;  // of queue pairs, and of packets

// What the kernel's drivers ask for on the way to a state (ib_modify_qp_is_ok): 0, or an errno.
int require(int mask, int needed, std::string_view reason) {
  return (mask & needed) == needed ? 0 : refused(kCall, EINVAL, reason);
}

// What has a few bits on the wire of an adapter, or names what a device has one of.
int check_values(const ibv_qp_attr& wanted, int mask) {
  struct Bound {
    int bit;
    std::int64_t value, least, most;
    std::string_view reason;
  };
  const Bound bounds[]{
      {IBV_QP_PORT, wanted.port_num, 1, 1, "port_num: every device has one port: 1"},
      {IBV_QP_PKEY_INDEX, wanted.pkey_index, 0, 0, "pkey_index: there is P_Key 0 alone"},
      {IBV_QP_PATH_MTU, number(wanted.path_mtu), IBV_MTU_256, IBV_MTU_4096, "path_mtu: no such size"},
      {IBV_QP_DEST_QPN, wanted.dest_qp_num, 0, kHighestNumber, "dest_qp_num: more than 24 bits"},
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
      return refused(kCall, EINVAL, one.reason);
  }
  return 0;
}

// --- A direct connection

// What only a program names that connects the queue pair itself: rdma_init_qp_attr asks for none of these.
constexpr int kByProgram = IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN;

// The second half of a queue pair that is connected to itself.
int make_loop(Qp& qp) {
  const verbs::QueuePairQuery query = qp.engine.query();
  ibv_qp_init_attr_ex same{};
  same.send_cq = qp.qp_base.send_cq;
  same.recv_cq = qp.qp_base.recv_cq;
  same.srq = qp.qp_base.srq;
  same.cap = capabilities(query);
  same.sq_sig_all = query.signal_all ? 1 : 0;
  auto attributes = engine_attributes(same, 0);  // its events would repeat those of the other half
  attributes.number = qp.port_number;
  auto made = of(qp.qp_base.pd).engine.create_queue_pair(attributes);
  if (!made) return refused(kCall, made.error());
  if (const auto ready = made->modify(verbs::QpState::kInit); !ready) return refused(kCall, ready.error());
  qp.loop.emplace(std::move(*made));
  return 0;
}

int to_rtr(Qp& qp, const ibv_qp_attr& wanted, int mask, const void* caller) {
  const bool reliable = qp.qp_base.qp_type == IBV_QPT_RC;
  const int needed = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     (reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
  if (const int error = require(mask, needed,
                                "RTR needs the address vector, path_mtu, dest_qp_num, rq_psn and, for RC, "
                                "max_dest_rd_atomic and min_rnr_timer");
      error != 0) {
    return error;
  }
  if (qp.engine.state() != verbs::QpState::kInit) return refused(kCall, EINVAL, "RTR follows INIT");
  const auto local = device_address(of(qp.qp_base.context).device());
  if (!local || qp.port_number == 0) {
    return refused(kCall, EINVAL,
                   "the queue pair has no port: its device has no IP address, or rdma_create_qp made it");
  }
  const auto peer = peer_of(kCall, wanted.ah_attr, *local);
  if (!peer) return EINVAL;
  const direct::End self{.address = *local, .number = qp.port_number};
  const direct::Target target{.peer = {.address = *peer, .number = wanted.dest_qp_num},
                              .rq_psn = wanted.rq_psn & kHighestNumber,
                              .ird = reliable ? wanted.max_dest_rd_atomic : std::uint8_t{0}};
  if (self == target.peer) {
    if (const int error = make_loop(qp); error != 0) return error;
  }
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) qp.access_flags = wanted.qp_access_flags;
  qp.sender().accept_early_sends();  // an attempt that fails is not the queue pair's end
  if (qp.loop) qp.engine.accept_early_sends();
  for (verbs::QueuePair* const half : {&qp.engine, qp.loop ? &*qp.loop : nullptr}) {
    if (half == nullptr) continue;
    half->combine_immediate();  // the greeting of version 1 agrees on it
    // UCX's flush relies on it, and so do MPI's windows.
    if (confirms_writes() || is_in_library(caller, {"libuct_ib."})) half->confirm_writes();
    if (qp.access_flags) half->limit_peer(static_cast<verbs::Access>(*qp.access_flags) & verbs::kAllAccess);
  }
  const auto begun = Connections::of_process().begin(self, target, qp.engine, qp.sender());
  if (!begun) return refused(kCall, begun.error());
  qp.direct_state = IBV_QPS_RTR;
  return 0;
}

// A time of 0 is without end; any other is 4.096 microseconds times a power of two, for each try. A connection over TCP
// takes its time under load: no less than this.
std::optional<std::chrono::nanoseconds> patience_of(const ibv_qp_attr& wanted) {
  constexpr std::chrono::nanoseconds kUnit{4096};
  constexpr std::chrono::nanoseconds kLeast = std::chrono::seconds(2);
  const unsigned exponent = wanted.timeout & 31U;
  if (exponent == 0) return std::nullopt;
  return std::max(kLeast, kUnit * (std::int64_t{1} << exponent) * ((wanted.retry_cnt & 7) + 1));
}

int to_rts(Qp& qp, const ibv_qp_attr& wanted, int mask) {
  const bool reliable = qp.qp_base.qp_type == IBV_QPT_RC;
  const int needed =
      IBV_QP_SQ_PSN | (reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
  if (const int error = require(mask, needed,
                                "RTS needs sq_psn and, for RC, timeout, retry_cnt, rnr_retry and "
                                "max_rd_atomic");
      error != 0) {
    return error;
  }
  Connections::of_process().depart(qp.port_number,
                                   {.sq_psn = wanted.sq_psn & kHighestNumber, .patience = patience_of(wanted)});
  qp.direct_state = IBV_QPS_RTS;
  return 0;
}

// The events are those of the first half; of one that is connected to itself the other has the sends.
int modify_halves(Qp& qp, verbs::QpState to, bool tell_drained = false) {
  if (qp.loop) {
    if (const auto done = qp.loop->modify(to, false); !done) return refused(kCall, done.error());
  }
  const auto done = qp.engine.modify(to, tell_drained);
  return done ? 0 : refused(kCall, done.error());
}

// SQD and back. With a connection manager, or once there is a connection, the engine does all of it.
int to_sqd(Qp& qp, const ibv_qp_attr& wanted, int mask) {
  if (qp.direct_state == IBV_QPS_RTR) return refused(kCall, EINVAL, "SQD follows RTS");
  const bool tell = (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0 && wanted.en_sqd_async_notify != 0;
  if (qp.direct_state) Connections::of_process().pause(qp.port_number);
  if (const int error = modify_halves(qp, verbs::QpState::kSqd, tell); error != 0) return error;
  if (qp.direct_state) qp.direct_state = IBV_QPS_SQD;
  return 0;
}

int leave_sqd(Qp& qp) {
  if (const int error = modify_halves(qp, verbs::QpState::kRts); error != 0) return error;
  qp.direct_state = IBV_QPS_RTS;
  Connections::of_process().resume(qp.port_number);
  return 0;
}

// The connection ends; what else RESET does, the engine does.
void leave_peer(Qp& qp) {
  if (!qp.direct_state) return;
  static_cast<void>(qp.engine.modify(verbs::QpState::kError));
  Connections::of_process().end(qp.port_number);
  qp.loop.reset();
  qp.direct_state.reset();
}

// --- States

ibv_qp_state state_of(const Qp& qp) {
  if (qp.datagrams) return static_cast<ibv_qp_state>(qp.datagrams->state());
  const verbs::QpState engine = qp.engine.state();
  const bool alive =
      engine == verbs::QpState::kInit || engine == verbs::QpState::kRtr || engine == verbs::QpState::kRts;
  return alive && qp.direct_state ? *qp.direct_state : static_cast<ibv_qp_state>(engine);
}

// Asking for what is there already does no harm; and a program that follows rdma_init_qp_attr asks for RTR and RTS before
// rdma_accept or rdma_connect, which lead there.
int modify_state(Qp& qp, const ibv_qp_attr& wanted, int mask, const void* caller) {
  const std::int64_t to = number(wanted.qp_state);
  const verbs::QpState now = qp.engine.state();
  const bool connects = to == IBV_QPS_RTR || to == IBV_QPS_RTS;
  if (to < IBV_QPS_RESET || to > IBV_QPS_ERR || to == IBV_QPS_SQE) return refused(kCall, EINVAL, "no such state");
  if (connects && !qp.direct_state && (mask & kByProgram) != 0 && now != verbs::QpState::kRts) {
    return to == IBV_QPS_RTR ? to_rtr(qp, wanted, mask, caller) : refused(kCall, EINVAL, "RTS follows RTR");
  }
  if (to == IBV_QPS_SQD) return to_sqd(qp, wanted, mask);
  if (to == IBV_QPS_RTS && qp.direct_state == IBV_QPS_SQD) return leave_sqd(qp);
  if (to == IBV_QPS_RTS && qp.direct_state == IBV_QPS_RTR) {
    if (now == verbs::QpState::kError) return refused(kCall, EINVAL, "the queue pair is in ERR");
    return to_rts(qp, wanted, mask);
  }
  if (to == IBV_QPS_INIT && qp.direct_state) return refused(kCall, EINVAL, "INIT follows RESET");
  // On the way to RTS, a program that answers CONNECT_RESPONSE begins with INIT.
  if (to == IBV_QPS_INIT && qp.named_by_id && now == verbs::QpState::kRts) return 0;
  const bool under_way = now == verbs::QpState::kInit || now == verbs::QpState::kRtr;
  const bool back = to == IBV_QPS_RTR && qp.direct_state;  // of a direct connection to the state before RTS
  if (connects && (now == verbs::QpState::kRts || (under_way && !back))) return 0;
  if (to == IBV_QPS_RESET) leave_peer(qp);
  if (to == IBV_QPS_ERR && qp.loop) static_cast<void>(qp.loop->modify(verbs::QpState::kError));
  const auto done = qp.engine.modify(static_cast<verbs::QpState>(to));
  if (done && to == IBV_QPS_RESET) forget_left_over(qp.qp_base);
  return done ? 0 : refused(kCall, done.error());
}

}  // namespace

void refresh_state(Qp& qp) noexcept { std::atomic_ref(qp.qp_base.state).store(state_of(qp)); }

verbs::PostResult post_direct(Qp& qp, std::span<const verbs::SendRequest> requests) {
  if (qp.direct_state == IBV_QPS_RTR && qp.sender().state() != verbs::QpState::kError) {
    return std::unexpected(verbs::PostFailure{{verbs::Errc::kInvalidState, "queue pair", "sends need RTS"}, 0});
  }
  auto posted = qp.sender().post_send(requests);
  const verbs::QpState after = qp.sender().state();
  if (after == verbs::QpState::kInit || after == verbs::QpState::kRtr) {
    Connections::of_process().wanted(qp.port_number);
  }
  return posted;
}

int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, const void* caller) noexcept {
  return guarded_errno([&] {
    Qp& self = of(qp);
    int error = check_values(*attributes, mask);
    if (error != 0) return error;
    if (self.datagrams) {
      error = modify_datagrams(self, *attributes, mask);
    } else if ((mask & IBV_QP_STATE) != 0) {
      error = modify_state(self, *attributes, mask, caller);
    }
    if (error == 0) take_over(self.set, *attributes, mask);
    if (error == 0 && (mask & IBV_QP_ACCESS_FLAGS) != 0) self.access_flags = attributes->qp_access_flags;
    refresh_state(self);
    return error;
  });
}

int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr* init) noexcept {
  return guarded_errno([&] {
    Qp& self = of(qp);
    const verbs::QueuePairQuery query = self.query();
    refresh_state(self);
    *attributes = self.set;
    attributes->qp_state = attributes->cur_qp_state = state_of(self);
    if (number(attributes->path_mtu) == 0) attributes->path_mtu = IBV_MTU_4096;
    attributes->sq_draining = (self.loop ? self.loop->query() : query).draining ? 1 : 0;
    attributes->cap = capabilities(query);
    attributes->port_num = 1;
    if (query.negotiated && !self.direct_state) {
      attributes->max_rd_atomic = static_cast<std::uint8_t>(query.negotiated->ord);
      attributes->max_dest_rd_atomic = static_cast<std::uint8_t>(query.negotiated->ird);
    }
    if (init == nullptr) return 0;
    *init = {.qp_context = qp->qp_context,
             .send_cq = qp->send_cq,
             .recv_cq = qp->recv_cq,
             .srq = qp->srq,
             .cap = attributes->cap,
             .qp_type = qp->qp_type,
             .sq_sig_all = query.signal_all ? 1 : 0};
    return 0;
  });
}

}  // namespace weft::compat
