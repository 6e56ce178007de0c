// SPDX-License-Identifier: Apache-2.0
// ibv_modify_qp and ibv_query_qp. A program that uses the connection manager needs little of them. One that connects
// its queue pairs itself takes each from INIT to RTR, where it names the peer, and on to RTS: compat/direct makes the
// connection.
#include <algorithm>
#include <atomic>
#include <cerrno>

#include "compat/direct/connections.hpp"
#include "compat/objects/caller.hpp"
#include "compat/objects/datagrams.hpp"
#include "compat/objects/enums.hpp"
#include "compat/objects/queue_pair.hpp"
#include "compat/objects/queue_pair_attributes.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"
#include "compat/objects/work_checks.hpp"

namespace weft::compat {

namespace {

using direct::Connections;

constexpr std::string_view kCall = "ibv_modify_qp";

constexpr std::uint32_t kHighestNumber = 0xFFFFFF;  // of packets

// --- A direct connection

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

// What max_dest_rd_atomic and the access flags leave the peer. RDMA Reads without octets, which confirm Writes, need no
// right.
verbs::Access peer_rights(const Qp& qp, const direct::Target& target) {
  const auto granted = qp.access_flags ? static_cast<verbs::Access>(*qp.access_flags) : verbs::kAllAccess;
  return granted & (target.ird != 0 ? verbs::kAllAccess : verbs::Access::kRemoteWrite);
}

int to_rtr(Qp& qp, const ibv_qp_attr& wanted, int mask, const void* caller) {
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
                              .ird = qp.qp_base.qp_type == IBV_QPT_RC ? wanted.max_dest_rd_atomic : std::uint8_t{0}};
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
    half->limit_peer(peer_rights(qp, target));
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

int to_rts(Qp& qp, const ibv_qp_attr& wanted) {
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

int modify_engine(Qp& qp, ibv_qp_state to) {
  const auto state = static_cast<verbs::QpState>(to);
  const auto done = qp.datagrams ? qp.datagrams->modify(state) : qp.engine.modify(state);
  if (done && to == IBV_QPS_RESET) forget_left_over(qp.qp_base);
  return done ? 0 : refused(kCall, done.error());
}

ibv_qp_state state_of(const Qp& qp) {
  if (qp.datagrams) return static_cast<ibv_qp_state>(qp.datagrams->state());
  const verbs::QpState engine = qp.engine.state();
  const bool alive =
      engine == verbs::QpState::kInit || engine == verbs::QpState::kRtr || engine == verbs::QpState::kRts;
  return alive && qp.direct_state ? *qp.direct_state : static_cast<ibv_qp_state>(engine);
}

// The new state of a queue pair that its program connects, after check_transition().
int modify_direct(Qp& qp, ibv_qp_state from, const ibv_qp_attr& wanted, int mask, const void* caller) {
  switch (wanted.qp_state) {
    case IBV_QPS_RTR: return to_rtr(qp, wanted, mask, caller);
    case IBV_QPS_RTS: return from == IBV_QPS_RTR ? to_rts(qp, wanted) : from == IBV_QPS_SQD ? leave_sqd(qp) : 0;
    case IBV_QPS_SQD: return to_sqd(qp, wanted, mask);
    default: break;
  }
  if (wanted.qp_state == IBV_QPS_RESET) leave_peer(qp);
  if (wanted.qp_state == IBV_QPS_ERR && qp.loop) static_cast<void>(qp.loop->modify(verbs::QpState::kError));
  return modify_engine(qp, wanted.qp_state);
}

// Asking for what is there already does no harm; and a program that follows rdma_init_qp_attr asks for RTR and RTS
// before rdma_accept or rdma_connect, which lead there.
int modify_managed(Qp& qp, const ibv_qp_attr& wanted, int mask) {
  const ibv_qp_state to = wanted.qp_state;
  const verbs::QpState now = qp.engine.state();
  if (to == IBV_QPS_SQD) return to_sqd(qp, wanted, mask);
  // On the way to RTS, a program that answers CONNECT_RESPONSE begins with INIT.
  if (to == IBV_QPS_INIT && qp.named_by_id && now == verbs::QpState::kRts) return 0;
  const bool on_its_way = now == verbs::QpState::kInit || now == verbs::QpState::kRtr || now == verbs::QpState::kRts;
  if ((to == IBV_QPS_RTR || to == IBV_QPS_RTS) && on_its_way) return 0;
  return modify_engine(qp, to);
}

// A program that names a peer connects the queue pair itself. Until then, only the connection manager can have
// connected it.
int modify_connected(Qp& qp, const ibv_qp_attr& wanted, int mask, const void* caller) {
  const bool changes = (mask & IBV_QP_STATE) != 0;
  const bool names_peer = changes &&
                          (number(wanted.qp_state) == IBV_QPS_RTR || number(wanted.qp_state) == IBV_QPS_RTS) &&
                          (mask & kByProgram) != 0 && qp.engine.state() != verbs::QpState::kRts;
  if (!qp.direct_state && !names_peer) return changes ? modify_managed(qp, wanted, mask) : 0;
  const ibv_qp_state from = state_of(qp);
  const int error = check_transition(qp.qp_base.qp_type, from, changes ? wanted.qp_state : from, mask);
  return error != 0 || !changes ? error : modify_direct(qp, from, wanted, mask, caller);
}

int modify_datagrams(Qp& qp, const ibv_qp_attr& wanted, int mask) {
  const bool changes = (mask & IBV_QP_STATE) != 0;
  const ibv_qp_state from = state_of(qp);
  const ibv_qp_state to = changes ? wanted.qp_state : from;
  if (const int error = check_transition(qp.qp_base.qp_type, from, to, mask); error != 0) return error;
  if ((mask & IBV_QP_QKEY) != 0) qp.datagrams->set_qkey(wanted.qkey);
  return changes ? modify_engine(qp, to) : 0;
}

}  // namespace

void refresh_state(Qp& qp) noexcept { std::atomic_ref(qp.qp_base.state).store(state_of(qp)); }

verbs::PostResult post_direct(Qp& qp, std::span<const verbs::SendRequest> requests) {
  if (qp.direct_state == IBV_QPS_RTR && qp.sender().state() != verbs::QpState::kError) {
    return std::unexpected(verbs::PostFailure{{verbs::Errc::kInvalidState, "queue pair", "sends need RTS"}, 0});
  }
  // On an adapter, UC has neither RDMA Reads nor atomics.
  const auto first_refused = qp.qp_base.qp_type == IBV_QPT_UC
                                 ? std::ranges::find_if(requests, awaits_answer, &verbs::SendRequest::opcode)
                                 : requests.end();
  const auto before = static_cast<std::size_t>(first_refused - requests.begin());
  auto posted = qp.sender().post_send(requests.first(before));
  if (posted && first_refused != requests.end()) {
    posted = std::unexpected(verbs::PostFailure{
        {verbs::Errc::kInvalidArgument, "opcode", "an IBV_QPT_UC queue pair has no reads and atomics"}, before});
  }
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
    error =
        self.datagrams ? modify_datagrams(self, *attributes, mask) : modify_connected(self, *attributes, mask, caller);
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
