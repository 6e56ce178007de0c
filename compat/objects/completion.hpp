// SPDX-License-Identifier: Apache-2.0
// Completion channels and queues as libibverbs' structures.
#pragma once

#include <vector>

#include "compat/objects/context.hpp"

namespace weft::compat {

struct Channel : ibv_comp_channel {
  verbs::CompletionChannel engine;
  Channel(ibv_context* opened, verbs::CompletionChannel channel);
};
inline Channel& of(ibv_comp_channel* channel) noexcept { return *static_cast<Channel*>(channel); }

// Every completion queue is big enough to be an ibv_cq_ex, whose beginning is an ibv_cq.
struct Cq : ibv_cq_ex {
  Cq(ibv_context* opened, Channel* announces, void* program_context, verbs::CompletionQueue queue,
     std::uint64_t number);
  ~Cq();
  Cq(const Cq&) = delete;
  Cq& operator=(const Cq&) = delete;

  verbs::CompletionQueue engine;
  const std::uint64_t ticket;  // in Registry<Cq>
  Acknowledgements completion_events;
  Acknowledgements async_events;
  // What ibv_start_poll took and ibv_next_poll has not given yet.
  std::vector<verbs::WorkCompletion> batch{};
  std::size_t at = 0;
};
inline Cq& of(ibv_cq* cq) noexcept { return *static_cast<Cq*>(reinterpret_cast<ibv_cq_ex*>(cq)); }
inline Cq& of(ibv_cq_ex* cq) noexcept { return *static_cast<Cq*>(cq); }
inline ibv_cq* plain(Cq& cq) noexcept { return ibv_cq_ex_to_cq(&cq); }

ibv_comp_channel* create_comp_channel(ibv_context* context) noexcept;
int destroy_comp_channel(ibv_comp_channel* channel) noexcept;
int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept;  // -1 and errno

ibv_cq* create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int vector) noexcept;
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) noexcept;
int resize_cq(ibv_cq* cq, int cqe) noexcept;
int destroy_cq(ibv_cq* cq) noexcept;
void ack_cq_events(ibv_cq* cq, unsigned count) noexcept;
int poll_cq(ibv_cq* cq, int count, ibv_wc* completions) noexcept;
int req_notify_cq(ibv_cq* cq, int solicited_only) noexcept;

// As ibv_poll_cq reports it.
ibv_wc translate(const verbs::WorkCompletion& completion) noexcept;
// Fills the ibv_start_poll family of an extended queue (extended_completion.cpp).
void furnish_extended_polling(Cq& cq, std::uint64_t wanted) noexcept;

}  // namespace weft::compat
