// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/queue_pair.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

#include "compat/objects/enums.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

constexpr std::uint32_t kCreateAttributes =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

ibv_qp_state state_of(verbs::QpState state) { return static_cast<ibv_qp_state>(state); }

verbs::QueuePairAttributes attributes_of(const ibv_qp_init_attr_ex& wanted, std::uint64_t ticket) {
  // None of the queues may be of length 0 in the engine; a program that asks for that will not use it.
  const auto at_least_one = [](std::uint32_t value) { return std::max(value, 1U); };
  // As adapters and the kernel's drivers make it: programs post one more than they asked for, and never notice.
  const auto rounded = [&](std::uint32_t value) {
    const std::uint32_t most = verbs::Device::limits().max_qp_wr;
    return value < most ? std::min(std::bit_ceil(at_least_one(value)), most) : value;
  };
  return {
      .send_cq = &of(wanted.send_cq).engine,
      .receive_cq = &of(wanted.recv_cq).engine,
      .srq = wanted.srq != nullptr ? &of(wanted.srq).engine : nullptr,
      .max_send_wr = rounded(wanted.cap.max_send_wr),
      .max_receive_wr = rounded(wanted.cap.max_recv_wr),
      .max_send_sge = at_least_one(wanted.cap.max_send_sge),
      .max_receive_sge = at_least_one(wanted.cap.max_recv_sge),
      // More costs nothing. Kernel drivers round up, too, and programs such as rdma_xclient ask for none and use it.
      .max_inline = std::max(wanted.cap.max_inline_data, verbs::Device::limits().max_inline),
      .signal_all = wanted.sq_sig_all != 0,
      .context = ticket};
}

ibv_qp_cap capabilities(const verbs::QueuePairQuery& query) {
  return {.max_send_wr = query.max_send_wr,
          .max_recv_wr = query.max_receive_wr,
          .max_send_sge = query.max_send_sge,
          .max_recv_sge = query.max_receive_sge,
          .max_inline_data = query.max_inline};
}

ibv_qp* make_qp(std::string_view call, ibv_pd* pd, ibv_qp_init_attr_ex& wanted) {
  if (number(wanted.qp_type) != IBV_QPT_RC) {
    return refused_null(call, EOPNOTSUPP, "qp_type: iWARP has reliable connections alone (IBV_QPT_RC)");
  }
  if (wanted.send_cq == nullptr || wanted.recv_cq == nullptr) {
    return refused_null(call, EINVAL, "a completion queue is missing");
  }
  const std::uint64_t ticket = Registry<Qp>::instance().reserve();
  auto pair = of(pd).engine.create_queue_pair(attributes_of(wanted, ticket));
  if (!pair) return refused_null(call, pair.error());
  // On an iWARP device a new queue pair is in INIT and takes receives (siw, cxgb4; rdma-core's tests).
  if (const auto ready = pair->modify(verbs::QpState::kInit); !ready) return refused_null(call, ready.error());
  auto qp = std::make_unique<Qp>(*pd, wanted, std::move(*pair), ticket);
  if ((wanted.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
    const int error = furnish_builder(*qp, wanted.send_ops_flags);
    if (error != 0) return refused_null(call, error, "send_ops_flags: an operation that iWARP cannot carry");
  }
  wanted.cap = capabilities(qp->engine.query());
  return plain(*qp.release());
}

Users* users_of(ibv_cq* cq) { return cq != nullptr ? &of(cq).users : nullptr; }

}  // namespace

Qp::Qp(ibv_pd& pd, const ibv_qp_init_attr_ex& attributes, verbs::QueuePair pair, std::uint64_t number)
    : ibv_qp_ex{},
      domain_use(&of(&pd).users),
      send_use(users_of(attributes.send_cq)),
      receive_use(users_of(attributes.recv_cq)),
      shared_use(attributes.srq != nullptr ? &of(attributes.srq).users : nullptr),
      engine(std::move(pair)),
      ticket(number) {
  qp_base.context = pd.context;
  qp_base.qp_context = attributes.qp_context;
  qp_base.pd = &pd;
  qp_base.send_cq = attributes.send_cq;
  qp_base.recv_cq = attributes.recv_cq;
  qp_base.srq = attributes.srq;
  qp_base.handle = qp_base.qp_num = engine.number();
  qp_base.state = IBV_QPS_RESET;  // as rdma-core sets it: what the device says, ibv_query_qp tells, or the next change
  qp_base.qp_type = attributes.qp_type;
  pthread_mutex_init(&qp_base.mutex, nullptr);
  pthread_cond_init(&qp_base.cond, nullptr);
  Registry<Qp>::instance().enter(ticket, *this);
}

Qp::~Qp() {
  Registry<Qp>::instance().leave(ticket);
  async_events.wait_for_all();
  pthread_cond_destroy(&qp_base.cond);
  pthread_mutex_destroy(&qp_base.mutex);
}

Qp* find_qp(std::uint32_t number) {
  return Registry<Qp>::instance().find([number](const Qp& qp) { return qp.qp_base.qp_num == number; });
}

ibv_qp_init_attr_ex extended(const ibv_qp_init_attr& plain, ibv_pd* pd) {
  ibv_qp_init_attr_ex wanted{};
  wanted.qp_context = plain.qp_context;
  wanted.send_cq = plain.send_cq;
  wanted.recv_cq = plain.recv_cq;
  wanted.srq = plain.srq;
  wanted.cap = plain.cap;
  set_number(wanted.qp_type, number(plain.qp_type));
  wanted.sq_sig_all = plain.sq_sig_all;
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD;
  wanted.pd = pd;
  return wanted;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) noexcept {
  return guarded_null([&] {
    ibv_qp_init_attr_ex wanted = extended(*attributes, pd);
    ibv_qp* const made = make_qp("ibv_create_qp", pd, wanted);
    if (made != nullptr) attributes->cap = wanted.cap;
    return made;
  });
}

ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* attributes) noexcept {
  return guarded_null([&]() -> ibv_qp* {
    if ((attributes->comp_mask & ~kCreateAttributes) != 0) {
      return refused_null("ibv_create_qp_ex", EOPNOTSUPP, "comp_mask: an attribute that iWARP does not have");
    }
    if ((attributes->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attributes->pd == nullptr) {
      return refused_null("ibv_create_qp_ex", EINVAL, "no protection domain");
    }
    if ((attributes->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attributes->create_flags != 0) {
      return refused_null("ibv_create_qp_ex", EOPNOTSUPP, "create_flags: none is known");
    }
    return make_qp("ibv_create_qp_ex", attributes->pd, *attributes);
  });
}

namespace {

// Its completions go with it: the program has nothing left that they could be about.
void forget_left_over(const ibv_qp& qp) {
  discard_left_over(of(qp.send_cq), qp.qp_num);
  if (qp.recv_cq != qp.send_cq) discard_left_over(of(qp.recv_cq), qp.qp_num);
}

}  // namespace

int destroy_qp(ibv_qp* qp) noexcept {
  return guarded_errno([&] {
    if (const int error = claim("ibv_destroy_qp", of(qp)); error != 0) return error;
    if (!of(qp).alive.inherited()) forget_left_over(*qp);
    dispose(of(qp));
    return 0;
  });
}

void refresh_state(Qp& qp) noexcept { std::atomic_ref(qp.qp_base.state).store(state_of(qp.engine.state())); }

namespace {

// What a program has to name that connects queue pairs itself, and rdma_init_qp_attr asks for on InfiniBand alone.
constexpr int kByHand = IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN;

// Its user sees a program end for no reason, and its many queue pairs are all refused alike: at log level warn one line a
// process, the others at info.
int refused_by_hand() noexcept {
  static std::atomic<bool> told = false;
  constexpr std::string_view kCall = "ibv_modify_qp";
  constexpr std::string_view kWhy =
      "this program connects its queue pairs itself; an iWARP queue pair is connected over TCP, by rdma_connect or "
      "rdma_accept (perftest: -R; docs/drop-in.md, What will not work)";
  return told.exchange(true) ? refused(kCall, EINVAL, kWhy) : refused_for_good(kCall, EINVAL, kWhy);
}

// The connection manager alone takes a queue pair to RTS. Asking for what is there already does no harm; and a program
// that follows rdma_init_qp_attr does so before rdma_accept or rdma_connect, which will.
int modify_state(Qp& qp, std::int64_t wanted, int mask) {
  const bool connects = wanted == IBV_QPS_RTR || wanted == IBV_QPS_RTS;
  const verbs::QpState now = qp.engine.state();
  const bool under_way = now == verbs::QpState::kInit || now == verbs::QpState::kRtr;
  if (connects && (now == verbs::QpState::kRts || (under_way && (mask & kByHand) == 0))) return 0;
  if (connects && now != verbs::QpState::kSqd) return refused_by_hand();
  if (wanted < IBV_QPS_RESET || wanted > IBV_QPS_ERR || wanted == IBV_QPS_SQE)
    return refused("ibv_modify_qp", EINVAL, "no such state");
  const auto done = qp.engine.modify(static_cast<verbs::QpState>(wanted));
  if (done && wanted == IBV_QPS_RESET) forget_left_over(qp.qp_base);
  return done ? 0 : refused("ibv_modify_qp", done.error());
}

}  // namespace

// What InfiniBand needs to connect (path, keys, sequence numbers, retries) is taken and has no meaning here.
int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) noexcept {
  return guarded_errno([&] {
    Qp& self = of(qp);
    if ((mask & IBV_QP_ACCESS_FLAGS) != 0) self.access = attributes->qp_access_flags;
    if ((mask & IBV_QP_TIMEOUT) != 0) self.timeout = attributes->timeout;
    if ((mask & IBV_QP_STATE) == 0) return 0;
    const int error = modify_state(self, number(attributes->qp_state), mask);
    refresh_state(self);
    return error;
  });
}

int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr* init) noexcept {
  return guarded_errno([&] {
    Qp& self = of(qp);
    const verbs::QueuePairQuery query = self.engine.query();
    refresh_state(self);
    *attributes = {};
    attributes->qp_state = attributes->cur_qp_state = state_of(query.state);
    attributes->path_mtu = IBV_MTU_4096;
    attributes->qp_access_flags = self.access;
    attributes->cap = capabilities(query);
    attributes->port_num = 1;
    attributes->timeout = self.timeout;
    if (query.negotiated) {
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
