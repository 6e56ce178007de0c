// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/queue_pair.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "compat/direct/connections.hpp"
#include "compat/objects/datagrams.hpp"
#include "compat/objects/enums.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat {

namespace {

constexpr std::uint32_t kCreateAttributes =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

// Given back unless a queue pair takes it.
class PortNumber {
 public:
  PortNumber() = default;
  explicit PortNumber(std::uint32_t taken) noexcept : number_(taken) {}
  ~PortNumber() {
    if (number_ != 0) direct::Connections::of_process().give_back(number_);
  }
  PortNumber(const PortNumber&) = delete;
  PortNumber& operator=(const PortNumber&) = delete;
  [[nodiscard]] std::uint32_t value() const noexcept { return number_; }
  std::uint32_t release() noexcept { return std::exchange(number_, 0); }

 private:
  std::uint32_t number_ = 0;
};

// 0 for a device without an address: it has no peers.
verbs::Result<std::uint32_t> number_with_port(const ibv_pd& pd) {
  const auto local = device_address(of(pd.context).device());
  if (!local) return 0;
  return direct::Connections::of_process().take_number(*local);
}

enum class ConnectedBy : std::uint8_t { kManager, kProgram };

// A new queue pair is in INIT on an iWARP device, and in RESET on others (siw, cxgb4; rdma-core's tests). The
// connection manager's is in INIT on both.
std::unique_ptr<Qp> make_connected(std::string_view call, ibv_pd& pd, const ibv_qp_init_attr_ex& wanted, ConnectedBy by,
                                   std::uint64_t ticket) {
  const auto taken = by == ConnectedBy::kProgram ? number_with_port(pd) : verbs::Result<std::uint32_t>(0);
  if (!taken) return refused_null(call, taken.error());
  PortNumber of_port(*taken);
  auto wanted_of_engine = engine_attributes(wanted, ticket);
  wanted_of_engine.number = of_port.value();
  auto pair = of(&pd).engine.create_queue_pair(wanted_of_engine);
  if (!pair) return refused_null(call, pair.error());
  if (by == ConnectedBy::kManager || device_kind() == verbs::DeviceKind::kIwarp) {
    if (const auto ready = pair->modify(verbs::QpState::kInit); !ready) return refused_null(call, ready.error());
  }
  auto qp = std::make_unique<Qp>(pd, wanted, std::move(*pair), ticket, of_port.value());
  of_port.release();
  return qp;
}

std::unique_ptr<Qp> make_with_datagrams(std::string_view call, ibv_pd& pd, const ibv_qp_init_attr_ex& wanted,
                                        std::uint64_t ticket) {
  auto pair = make_datagram_queue_pair(pd, engine_attributes(wanted, ticket));
  if (!pair) return refused_null(call, pair.error());
  return std::make_unique<Qp>(pd, wanted, std::move(*pair), ticket);
}

ibv_qp* make_qp(std::string_view call, ibv_pd* pd, ibv_qp_init_attr_ex& wanted, ConnectedBy by) {
  const std::int64_t type = number(wanted.qp_type);
  if (type != IBV_QPT_RC && type != IBV_QPT_UC && type != IBV_QPT_UD) {
    return refused_null(call, EOPNOTSUPP, "qp_type: weft has IBV_QPT_RC, IBV_QPT_UC and IBV_QPT_UD");
  }
  if (wanted.send_cq == nullptr || wanted.recv_cq == nullptr) {
    return refused_null(call, EINVAL, "a completion queue is missing");
  }
  const std::uint64_t ticket = Registry<Qp>::instance().reserve();
  auto qp = type == IBV_QPT_UD ? make_with_datagrams(call, *pd, wanted, ticket)
                               : make_connected(call, *pd, wanted, by, ticket);
  if (!qp) return nullptr;
  if ((wanted.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
    if (furnish_builder(*qp, wanted.send_ops_flags) != 0) return nullptr;
  }
  wanted.cap = capabilities(qp->query());
  return plain(*qp.release());
}

Users* users_of(ibv_cq* cq) { return cq != nullptr ? &of(cq).users : nullptr; }

}  // namespace

verbs::QueuePairAttributes engine_attributes(const ibv_qp_init_attr_ex& wanted, std::uint64_t ticket) {
  // Places cost nothing until they are used, and adapters have more than was asked for: gloo asks for 8 and posts 12
  // before its other thread polls.
  constexpr std::uint32_t kLeastSends = 32;
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
      .max_send_wr = std::max(rounded(wanted.cap.max_send_wr), kLeastSends),
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

Qp::Qp(ibv_pd& pd, const ibv_qp_init_attr_ex& attributes, verbs::QueuePair pair, std::uint64_t number,
       std::uint32_t of_port)
    : ibv_qp_ex{},
      domain_use(&of(&pd).users),
      send_use(users_of(attributes.send_cq)),
      receive_use(users_of(attributes.recv_cq)),
      shared_use(attributes.srq != nullptr ? &of(attributes.srq).users : nullptr),
      engine(std::move(pair)),
      ticket(number),
      port_number(of_port) {
  furnish(pd, attributes, engine.number());
}

Qp::Qp(ibv_pd& pd, const ibv_qp_init_attr_ex& attributes, verbs::DatagramQueuePair pair, std::uint64_t number)
    : ibv_qp_ex{},
      domain_use(&of(&pd).users),
      send_use(users_of(attributes.send_cq)),
      receive_use(users_of(attributes.recv_cq)),
      shared_use(attributes.srq != nullptr ? &of(attributes.srq).users : nullptr),
      datagrams(std::move(pair)),
      ticket(number),
      port_number(0) {
  furnish(pd, attributes, datagrams->number());
}

void Qp::furnish(ibv_pd& pd, const ibv_qp_init_attr_ex& attributes, std::uint32_t its_number) {
  qp_base.context = pd.context;
  qp_base.qp_context = attributes.qp_context;
  qp_base.pd = &pd;
  qp_base.send_cq = attributes.send_cq;
  qp_base.recv_cq = attributes.recv_cq;
  qp_base.srq = attributes.srq;
  qp_base.handle = qp_base.qp_num = its_number;
  qp_base.state = IBV_QPS_RESET;  // as rdma-core sets it: what the device says, ibv_query_qp tells, or the next change
  qp_base.qp_type = attributes.qp_type;
  pthread_mutex_init(&qp_base.mutex, nullptr);
  pthread_cond_init(&qp_base.cond, nullptr);
  Registry<Qp>::instance().enter(ticket, *this);
}

Qp::~Qp() {
  Registry<Qp>::instance().leave(ticket);
  if (port_number != 0) direct::Connections::of_process().give_back(port_number);
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
    ibv_qp* const made = make_qp("ibv_create_qp", pd, wanted, ConnectedBy::kProgram);
    if (made != nullptr) attributes->cap = wanted.cap;
    return made;
  });
}

namespace {

ibv_qp* create_extended(ibv_qp_init_attr_ex& wanted, ConnectedBy by) {
  constexpr std::string_view kCall = "ibv_create_qp_ex";
  if ((wanted.comp_mask & ~kCreateAttributes) != 0) {
    return refused_null(kCall, EOPNOTSUPP, "comp_mask: an attribute that iWARP does not have");
  }
  if ((wanted.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || wanted.pd == nullptr) {
    return refused_null(kCall, EINVAL, "no protection domain");
  }
  if ((wanted.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && wanted.create_flags != 0) {
    return refused_null(kCall, EOPNOTSUPP, "create_flags: none is known");
  }
  return make_qp(kCall, wanted.pd, wanted, by);
}

}  // namespace

ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* attributes) noexcept {
  return guarded_null([&] { return create_extended(*attributes, ConnectedBy::kProgram); });
}

ibv_qp* create_managed_qp(ibv_qp_init_attr_ex* attributes) noexcept {
  return guarded_null([&] { return create_extended(*attributes, ConnectedBy::kManager); });
}

void forget_left_over(const ibv_qp& qp) {
  discard_left_over(of(qp.send_cq), qp.qp_num);
  if (qp.recv_cq != qp.send_cq) discard_left_over(of(qp.recv_cq), qp.qp_num);
}

int destroy_qp(ibv_qp* qp) noexcept {
  return guarded_errno([&] {
    if (const int error = claim("ibv_destroy_qp", of(qp)); error != 0) return error;
    if (!of(qp).alive.inherited()) forget_left_over(*qp);
    dispose(of(qp));
    return 0;
  });
}

}  // namespace weft::compat
