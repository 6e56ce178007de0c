// SPDX-License-Identifier: Apache-2.0
// Queue pairs and shared receive queues as libibverbs' structures.
#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "compat/objects/completion.hpp"
#include "compat/objects/work_builder.hpp"

namespace weft::compat {

struct Srq : ibv_srq {
  Srq(ibv_pd& pd, void* program_context, verbs::SharedReceiveQueue queue, std::uint64_t number);
  ~Srq();
  Srq(const Srq&) = delete;
  Srq& operator=(const Srq&) = delete;

  const Use domain_use;
  verbs::SharedReceiveQueue engine;
  const Alive<Srq> alive{this};
  Users users;
  const std::uint64_t ticket;  // in Registry<Srq>
  Acknowledgements async_events;
};
inline Srq& of(ibv_srq* srq) noexcept { return *static_cast<Srq*>(srq); }

// Every queue pair is big enough to be an ibv_qp_ex, whose first member is the ibv_qp.
struct Qp : ibv_qp_ex {
  Qp(ibv_pd& pd, const ibv_qp_init_attr_ex& attributes, verbs::QueuePair pair, std::uint64_t number,
     std::uint32_t of_port = 0);
  Qp(ibv_pd& pd, const ibv_qp_init_attr_ex& attributes, verbs::DatagramQueuePair pair, std::uint64_t number);
  ~Qp();
  Qp(const Qp&) = delete;
  Qp& operator=(const Qp&) = delete;

  const Use domain_use, send_use, receive_use, shared_use;
  verbs::QueuePair engine;                              // empty if it has datagrams
  std::optional<verbs::DatagramQueuePair> datagrams{};  // IBV_QPT_UD
  const Alive<Qp> alive{this};
  const std::uint64_t ticket;  // in Registry<Qp>
  Acknowledgements async_events;
  std::optional<WorkBuilder> builder{};  // of a queue pair that was made with send_ops_flags
  // As the program set them, for ibv_query_qp.
  ibv_qp_attr set{};
  // Members of a queue pair that the program connects by ibv_modify_qp (compat/direct)
  const std::uint32_t port_number;             // its qp_num, if that names a port of this process; else 0
  std::optional<ibv_qp_state> direct_state{};  // RTR or RTS, from RTR on
  std::atomic<bool> named_by_id =
      false;  // rdma_connect or rdma_accept named it: the connection leads through the states
  std::optional<unsigned> access_flags{};  // what the program last set: the most that its peer may do
  std::optional<verbs::QueuePair> loop{};  // has the sends of one that is connected to itself

  [[nodiscard]] verbs::QueuePair& sender() noexcept { return loop ? *loop : engine; }
  [[nodiscard]] verbs::QueuePairQuery query() const { return datagrams ? datagrams->query() : engine.query(); }

 private:
  void furnish(ibv_pd& pd, const ibv_qp_init_attr_ex& attributes, std::uint32_t its_number);
};
inline Qp& of(ibv_qp* qp) noexcept { return *static_cast<Qp*>(reinterpret_cast<ibv_qp_ex*>(qp)); }
inline Qp& of(ibv_qp_ex* qp) noexcept { return *static_cast<Qp*>(qp); }
inline ibv_qp* plain(Qp& qp) noexcept { return &qp.qp_base; }

[[nodiscard]] ibv_qp_cap capabilities(const verbs::QueuePairQuery& query);
// The same wishes, and the domain, in the longer structure.
ibv_qp_init_attr_ex extended(const ibv_qp_init_attr& plain, ibv_pd* pd);
// Sets attributes->cap to what it got.
ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) noexcept;
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes) noexcept;
// For the connection manager: no port is reserved for it.
ibv_qp* create_managed_qp(ibv_qp_init_attr_ex* attributes) noexcept;
// The queue pair of the engine that this one, or its second half (Qp::loop), consists of.
verbs::QueuePairAttributes engine_attributes(const ibv_qp_init_attr_ex& wanted, std::uint64_t ticket);
// Its completions go with it: the program has nothing left that they could be about.
void forget_left_over(const ibv_qp& qp);
int destroy_qp(ibv_qp* qp) noexcept;
Qp* find_qp(std::uint32_t number);  // null when no queue pair of this process has that number
// `caller`: an address in the code that called ibv_modify_qp; null: none of interest.
int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, const void* caller = nullptr) noexcept;
int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init) noexcept;
// qp->state from the engine's state: after connect, accept, or an event that changed it.
void refresh_state(Qp& qp) noexcept;
// Sends of a direct connection. One that waits for the peer does so no longer than RTS said.
verbs::PostResult post_direct(Qp& qp, std::span<const verbs::SendRequest> requests);

int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) noexcept;
int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) noexcept;

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) noexcept;
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attributes) noexcept;
int modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) noexcept;
int query_srq(ibv_srq* srq, ibv_srq_attr* attributes) noexcept;
int destroy_srq(ibv_srq* srq) noexcept;
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad) noexcept;

}  // namespace weft::compat
