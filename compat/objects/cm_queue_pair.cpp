// SPDX-License-Identifier: Apache-2.0
// Queue pairs of identifiers, with the completion queues that the program left to us.
#include <algorithm>
#include <tuple>
#include <utility>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/enums.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

// An errno. What was made up to a failure stays in `made`, for release().
int make(CmId& id, MadeQueue& made, std::uint32_t capacity) {
  made.channel = create_comp_channel(id.verbs);
  if (made.channel == nullptr) return errno;
  const int cqe = static_cast<int>(std::clamp(capacity, 1U, verbs::Device::limits().max_cqe));
  made.queue = create_cq(id.verbs, cqe, &id, made.channel, 0);  // rdma_verbs.h expects the id as its context
  return made.queue != nullptr ? 0 : errno;
}

void release(MadeQueue& made, ibv_cq*& shown_queue, ibv_comp_channel*& shown_channel) {
  const MadeQueue gone = std::exchange(made, {});
  if (shown_queue == gone.queue) shown_queue = nullptr;
  if (shown_channel == gone.channel) shown_channel = nullptr;
  if (gone.queue != nullptr) destroy_cq(gone.queue);
  if (gone.channel != nullptr) destroy_comp_channel(gone.channel);
}

// What the program gave, else what the identifier shows, else a new one, which the identifier shows then.
int provide(CmId& id, MadeQueue& made, ibv_cq*& wanted, ibv_cq*& shown_queue, ibv_comp_channel*& shown_channel,
            std::uint32_t capacity) {
  if (wanted != nullptr) return 0;
  if (shown_queue == nullptr) {
    if (const int error = make(id, made, capacity); error != 0) return error;
    shown_queue = made.queue;
    shown_channel = made.channel;
  }
  wanted = shown_queue;
  return 0;
}

int provide_queues(CmId& id, ibv_qp_init_attr_ex& wanted) {
  const int error = provide(id, id.made_send, wanted.send_cq, id.send_cq, id.send_cq_channel, wanted.cap.max_send_wr);
  if (error != 0) return error;
  return provide(id, id.made_receive, wanted.recv_cq, id.recv_cq, id.recv_cq_channel, wanted.cap.max_recv_wr);
}

// Waits for the program to acknowledge their events.
void release_queues(CmId& id) {
  release(id.made_send, id.send_cq, id.send_cq_channel);
  release(id.made_receive, id.recv_cq, id.recv_cq_channel);
}

// A queue pair for datagrams can send as soon as it is made.
int make_datagrams_ready(ibv_qp* pair) {
  ibv_qp_attr to{};
  to.port_num = 1;
  to.qkey = RDMA_UDP_QKEY;
  const auto move = [&](ibv_qp_state state, int mask) {
    to.qp_state = state;
    return modify_qp(pair, &to, IBV_QP_STATE | mask);
  };
  if (const int error = move(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY); error != 0) return error;
  if (const int error = move(IBV_QPS_RTR, 0); error != 0) return error;
  return move(IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

// So that receives can be posted before the connection is there.
int make_ready(ibv_qp* pair) {
  if (of(pair).datagrams) return make_datagrams_ready(pair);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  to.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  return modify_qp(pair, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

// Creates a queue pair. Returns null with errno on failure.
ibv_qp* make_pair(CmId& id, ibv_qp_init_attr_ex& wanted) {
  if (const int error = provide_queues(id, wanted); error != 0) {
    errno = error;
    return nullptr;
  }
  if (wanted.srq == nullptr) wanted.srq = id.srq;
  ibv_qp* const pair = create_managed_qp(&wanted);
  if (pair == nullptr) return nullptr;
  if (const int error = make_ready(pair); error != 0) {
    destroy_qp(pair);
    errno = error;
    return nullptr;
  }
  return pair;
}

struct Complaint {
  int error = 0;
  std::string_view reason{};
};

Complaint check(const CmId& id, const ibv_qp_init_attr_ex& wanted, const ibv_pd* pd) {
  if (id.qp != nullptr) return {EINVAL, "the id has a queue pair"};
  if (id.verbs == nullptr || pd == nullptr) return {EINVAL, "the id has no device: its address is not resolved"};
  if (pd->context != id.verbs) return {EINVAL, "the protection domain is of another open of a device"};
  const std::int64_t type = has_datagrams(id) ? IBV_QPT_UD : IBV_QPT_RC;
  if (number(wanted.qp_type) != type) return {EOPNOTSUPP, "RDMA_PS_TCP has IBV_QPT_RC, RDMA_PS_UDP has IBV_QPT_UD"};
  return {};
}

// Works in the program's own structure, for its header may know a shorter one; what was not given is null again after
// a failure.
int create(rdma_cm_id* raw, ibv_qp_init_attr_ex* wanted, std::string_view call) {
  if (raw == nullptr || wanted == nullptr) return refused_minus_one(call, EINVAL, "null pointer");
  CmId& id = of(raw);
  adopt_late(id);
  ibv_pd* const pd = (wanted->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 && wanted->pd != nullptr ? wanted->pd : id.pd;
  if (const Complaint about = check(id, *wanted, pd); about.error != 0) {
    return refused_minus_one(call, about.error, about.reason);
  }
  wanted->comp_mask |= IBV_QP_INIT_ATTR_PD;
  wanted->pd = pd;
  const auto given = std::tuple(wanted->send_cq, wanted->recv_cq, wanted->srq);
  id.qp = make_pair(id, *wanted);
  if (id.qp == nullptr) {
    const int error = errno;
    std::tie(wanted->send_cq, wanted->recv_cq, wanted->srq) = given;
    release_queues(id);
    return refused_minus_one(call, error, "the queue pair or one of its completion queues cannot be made");
  }
  id.pd = pd;
  id.pair = of(id.qp).ticket;
  if (id.ack_timeout) of(id.qp).set.timeout = *id.ack_timeout;
  return 0;
}

}  // namespace

int cm_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attributes) noexcept {
  return guarded_minus_one([&] { return create(id, attributes, "rdma_create_qp_ex"); });
}

int cm_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attributes) noexcept {
  return guarded_minus_one([&] {
    if (attributes == nullptr) return refused_minus_one("rdma_create_qp", EINVAL, "attributes are null");
    ibv_qp_init_attr_ex wanted = extended(*attributes, pd);
    if (create(id, &wanted, "rdma_create_qp") != 0) return -1;
    attributes->send_cq = wanted.send_cq;
    attributes->recv_cq = wanted.recv_cq;
    attributes->srq = wanted.srq;
    attributes->cap = wanted.cap;  // what it got
    return 0;
  });
}

void cm_destroy_qp(rdma_cm_id* id) noexcept {
  guarded_minus_one([&] {
    if (id == nullptr) return 0;
    CmId& self = of(id);
    self.pair = 0;
    if (ibv_qp* const gone = std::exchange(self.qp, nullptr)) destroy_qp(gone);
    release_queues(self);
    return 0;
  });
}

verbs::Result<std::unique_ptr<OwnQueuePair>> make_own_queue_pair(CmId& id) {
  if (id.verbs == nullptr) return verbs::fail(verbs::Errc::kInvalidState, "id", "its address is not resolved");
  auto queue = of(id.verbs).engine.create_completion_queue({.capacity = 1});
  if (!queue) return std::unexpected(queue.error());
  auto pair = of(id.pd).engine.create_queue_pair(
      {.send_cq = &*queue, .receive_cq = &*queue, .max_send_wr = 1, .max_receive_wr = 1});
  if (!pair) return std::unexpected(pair.error());
  return std::make_unique<OwnQueuePair>(std::move(*queue), std::move(*pair));
}

}  // namespace weft::compat
