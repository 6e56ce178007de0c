// SPDX-License-Identifier: Apache-2.0
// Completion channels and queues as libibverbs' structures.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "compat/objects/context.hpp"

namespace weft::compat {

struct Channel : ibv_comp_channel {
  verbs::CompletionChannel engine;
  const Alive<Channel> alive{this};
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
  const Alive<Cq> alive{this};
  Users users;
  Use domain_use{nullptr};     // of the parent domain that it was made in
  const std::uint64_t ticket;  // in Registry<Cq>
  Acknowledgements completion_events;
  Acknowledgements async_events;

  // --- The ibv_start_poll family (extended_completion.cpp). `batch` has a fixed size, 0 in a plain queue; its first
  // `taken` came from the engine, and those from `at` on were not given to the program yet.
  std::mutex polling{};          // held from ibv_start_poll to ibv_end_poll
  bool single_threaded = false;  // IBV_CREATE_CQ_ATTR_SINGLE_THREADED: `polling` is not used
  std::vector<verbs::WorkCompletion> batch{};
  std::size_t taken = 0;
  std::size_t at = 0;
};
inline Cq& of(ibv_cq* cq) noexcept { return *static_cast<Cq*>(reinterpret_cast<ibv_cq_ex*>(cq)); }
inline Cq& of(ibv_cq_ex* cq) noexcept { return *static_cast<Cq*>(cq); }
inline ibv_cq* plain(Cq& cq) noexcept { return ibv_cq_ex_to_cq(&cq); }

ibv_comp_channel* create_comp_channel(ibv_context* context) noexcept;
int destroy_comp_channel(ibv_comp_channel* channel) noexcept;
int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context);  // -1 and errno

ibv_cq* create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int vector) noexcept;
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) noexcept;
int resize_cq(ibv_cq* cq, int cqe) noexcept;
// Moderation is a hint: completions are announced one by one.
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attributes) noexcept;
int destroy_cq(ibv_cq* cq) noexcept;
void ack_cq_events(ibv_cq* cq, unsigned count) noexcept;
int poll_cq(ibv_cq* cq, int count, ibv_wc* completions) noexcept;
int req_notify_cq(ibv_cq* cq, int solicited_only) noexcept;

// As ibv_poll_cq reports it.
ibv_wc translate(const verbs::WorkCompletion& completion) noexcept;

// Fills the ibv_start_poll family of an extended queue: what is always there, and the fields of `wanted` (enum
// ibv_create_cq_wc_flags). May throw std::bad_alloc.
void furnish_extended_polling(Cq& cq, std::uint64_t wanted);
// What a batch of ibv_start_poll left unread comes before what the engine holds: ibv_poll_cq asks here first. As with
// ibv_start_poll itself, not between start and end of the same thread.
std::size_t take_left_over(Cq& cq, std::span<verbs::WorkCompletion> out) noexcept;
// As verbs::QueuePair does with the engine's completion queues when it goes, or goes to RESET.
void discard_left_over(Cq& cq, std::uint32_t qp_number) noexcept;

}  // namespace weft::compat
