// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/enums.hpp"
#include "compat/objects/queue_pair.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

Srq::Srq(ibv_pd& domain, void* program_context, verbs::SharedReceiveQueue queue, std::uint64_t number)
    : ibv_srq{}, domain_use(&of(&domain).users), engine(std::move(queue)), ticket(number) {
  context = domain.context;
  srq_context = program_context;
  pd = &domain;
  handle = engine.number();
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  Registry<Srq>::instance().enter(ticket, *this);
}

Srq::~Srq() {
  Registry<Srq>::instance().leave(ticket);
  async_events.wait_for_all();
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
}

namespace {

// ibv_modify_srq sets the limit: ibv_create_srq(3) calls srq_limit irrelevant.
Srq* make_srq(std::string_view call, ibv_pd* pd, void* program_context, ibv_srq_attr& wanted) {
  const std::uint64_t ticket = Registry<Srq>::instance().reserve();
  auto queue = of(pd).engine.create_shared_receive_queue(
      {.max_wr = wanted.max_wr, .max_sge = wanted.max_sge, .context = ticket});
  if (!queue) return refused_null(call, queue.error());
  return new Srq(*pd, program_context, std::move(*queue), ticket);
}

}  // namespace

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) noexcept {
  return guarded_null(
      [&]() -> ibv_srq* { return make_srq("ibv_create_srq", pd, attributes->srq_context, attributes->attr); });
}

ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* attributes) noexcept {
  return guarded_null([&]() -> ibv_srq* {
    constexpr std::uint32_t kKnown = 2 * IBV_SRQ_INIT_ATTR_TM - 1;
    if ((attributes->comp_mask & ~kKnown) != 0) {
      return refused_null("ibv_create_srq_ex", EOPNOTSUPP, "comp_mask: an attribute that is not known");
    }
    const bool typed = (attributes->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0;
    if (typed && number(attributes->srq_type) != IBV_SRQT_BASIC) {
      return refused_null("ibv_create_srq_ex", EOPNOTSUPP, "srq_type: only basic shared receive queues are supported");
    }
    if ((attributes->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attributes->pd == nullptr) {
      return refused_null("ibv_create_srq_ex", EINVAL, "no protection domain");
    }
    return make_srq("ibv_create_srq_ex", attributes->pd, attributes->srq_context, attributes->attr);
  });
}

int modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) noexcept {
  return guarded_errno([&] {
    verbs::SharedReceiveQueue& queue = of(srq).engine;
    if ((mask & IBV_SRQ_MAX_WR) != 0) {
      if (const auto done = queue.resize(attributes->max_wr); !done) return refused("ibv_modify_srq", done.error());
    }
    if ((mask & IBV_SRQ_LIMIT) != 0) {
      if (const auto done = queue.set_limit(attributes->srq_limit); !done) {
        return refused("ibv_modify_srq", done.error());
      }
    }
    return 0;
  });
}

int query_srq(ibv_srq* srq, ibv_srq_attr* attributes) noexcept {
  return guarded_errno([&] {
    const verbs::SharedReceiveQueueAttributes query = of(srq).engine.query();
    *attributes = {.max_wr = query.max_wr, .max_sge = query.max_sge, .srq_limit = query.limit};
    return 0;
  });
}

int destroy_srq(ibv_srq* srq) noexcept {
  return guarded_errno([&] {
    const int error = claim("ibv_destroy_srq", of(srq), "queue pairs still take receives from it",
                            [srq] { return of(srq).users.any(); });
    if (error == 0) dispose(of(srq));
    return error;
  });
}

}  // namespace weft::compat
