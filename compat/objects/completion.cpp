// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/completion.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>

#include "compat/objects/report.hpp"

namespace weft::compat {

// --- Channels

Channel::Channel(ibv_context* opened, verbs::CompletionChannel channel)
    : ibv_comp_channel{.context = opened, .fd = channel.descriptor(), .refcnt = 0}, engine(std::move(channel)) {}

ibv_comp_channel* create_comp_channel(ibv_context* context) noexcept {
  return guarded_null([&]() -> ibv_comp_channel* {
    auto channel = verbs::CompletionChannel::create();
    if (!channel) return refused_null("ibv_create_comp_channel", channel.error());
    return new Channel(context, std::move(*channel));
  });
}

int destroy_comp_channel(ibv_comp_channel* channel) noexcept {
  return guarded_errno([&] {
    const int error = claim("ibv_destroy_comp_channel", of(channel), "completion queues still announce here",
                            [channel] { return std::atomic_ref(channel->refcnt) > 0; });
    if (error == 0) dispose(of(channel));
    return error;
  });
}

int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  return waiting_minus_one([&] {
    for (;;) {
      const auto event = of(channel).engine.get_event();
      if (!event) {  // an empty channel and a signal are no mistakes: not worth a line
        errno = event.error().to_errno();
        return -1;
      }
      const auto use = [&](Cq& queue) {
        queue.completion_events.reported();
        *cq = plain(queue);
        *cq_context = queue.cq_context;
      };
      if (Registry<Cq>::instance().with(event->cq_context, use)) return 0;
    }
  });
}

// --- Queues

Cq::Cq(ibv_context* opened, Channel* announces, void* program_context, verbs::CompletionQueue queue,
       std::uint64_t number)
    : ibv_cq_ex{}, engine(std::move(queue)), ticket(number) {
  context = opened;
  ibv_cq_ex::channel = announces;
  cq_context = program_context;
  handle = engine.number();
  cqe = static_cast<int>(engine.capacity());
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  if (announces != nullptr) ++std::atomic_ref(announces->refcnt);
  Registry<Cq>::instance().enter(ticket, *this);
}

Cq::~Cq() {
  Registry<Cq>::instance().leave(ticket);
  completion_events.wait_for_all();
  async_events.wait_for_all();
  if (channel != nullptr) --std::atomic_ref(channel->refcnt);
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
}

namespace {

// Places cost nothing until they are used. A program that asks for fewer has few queue pairs, which get more sends than
// it asked for (engine_attributes).
constexpr std::uint32_t kLeastCompletions = 64;

Cq* make_cq(std::string_view call, ibv_context* context, std::uint32_t cqe, void* cq_context,
            ibv_comp_channel* channel) {
  const std::uint64_t ticket = Registry<Cq>::instance().reserve();
  Channel* const announces = channel != nullptr ? &of(channel) : nullptr;
  auto queue =
      of(context).engine.create_completion_queue({.capacity = std::max(cqe, kLeastCompletions),
                                                  .channel = announces != nullptr ? &announces->engine : nullptr,
                                                  .context = ticket});
  if (!queue) return refused_null(call, queue.error());
  return new Cq(context, announces, cq_context, std::move(*queue), ticket);
}

bool has_vector(const ibv_context& context, std::uint32_t vector) {
  return vector < static_cast<std::uint32_t>(context.num_comp_vectors);
}

constexpr std::uint64_t kReadable = IBV_WC_STANDARD_FLAGS;

}  // namespace

ibv_cq* create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int vector) noexcept {
  return guarded_null([&]() -> ibv_cq* {
    if (cqe < 1) return refused_null("ibv_create_cq", EINVAL, "room for less than one completion");
    if (!has_vector(*context, static_cast<std::uint32_t>(vector))) {
      return refused_null("ibv_create_cq", EINVAL, "comp_vector: not less than num_comp_vectors");
    }
    Cq* const made = make_cq("ibv_create_cq", context, static_cast<std::uint32_t>(cqe), cq_context, channel);
    return made != nullptr ? plain(*made) : nullptr;
  });
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) noexcept {
  return guarded_null([&]() -> ibv_cq_ex* {
    constexpr std::uint32_t kFlags =
        IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;  // the latter is a hint
    constexpr std::uint32_t kAttributes = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    const bool flags = (attributes->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0;
    const bool domain = (attributes->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0;
    if ((attributes->comp_mask & ~kAttributes) != 0 || (flags && (attributes->flags & ~kFlags) != 0)) {
      return refused_null("ibv_create_cq_ex", EOPNOTSUPP, "an attribute that is not known");
    }
    if ((attributes->wc_flags & ~kReadable) != 0) {
      return refused_null("ibv_create_cq_ex", EOPNOTSUPP, "wc_flags: no time stamps, flow tags or tag matching");
    }
    ibv_pd* const parent = domain ? attributes->parent_domain : nullptr;
    if (domain && (parent == nullptr || parent->context != context || !of(parent).domain_use.counts())) {
      return refused_null("ibv_create_cq_ex", EINVAL, "parent_domain: none, or of another open of a device");
    }
    if (attributes->cqe < 1 || !has_vector(*context, attributes->comp_vector)) {
      return refused_null("ibv_create_cq_ex", EINVAL, "cqe or comp_vector out of range");
    }
    Cq* const made = make_cq("ibv_create_cq_ex", context, attributes->cqe, attributes->cq_context, attributes->channel);
    if (made == nullptr) return nullptr;
    std::unique_ptr<Cq> owned(made);
    if (domain) owned->domain_use.move_to(&of(parent).users);
    owned->single_threaded = flags && (attributes->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
    furnish_extended_polling(*owned, attributes->wc_flags);
    return owned.release();
  });
}

int resize_cq(ibv_cq* cq, int cqe) noexcept {
  return guarded_errno([&] {
    if (cqe < 1) return refused("ibv_resize_cq", EINVAL, "room for less than one completion");
    const auto done = of(cq).engine.resize(static_cast<std::uint32_t>(cqe));
    if (!done) return refused("ibv_resize_cq", done.error());
    cq->cqe = cqe;
    return 0;
  });
}

int modify_cq(ibv_cq*, ibv_modify_cq_attr* attributes) noexcept {
  const bool known = attributes != nullptr && attributes->attr_mask == IBV_CQ_ATTR_MODERATE;
  return known ? 0 : refused("ibv_modify_cq", EINVAL, "attr_mask: contains an undefined bit");
}

int destroy_cq(ibv_cq* cq) noexcept {
  return guarded_errno([&] {
    const int error = claim("ibv_destroy_cq", of(cq), "queue pairs still complete here",  //
                            [cq] { return of(cq).users.any(); });
    if (error == 0) dispose(of(cq));
    return error;
  });
}

void ack_cq_events(ibv_cq* cq, unsigned count) noexcept { of(cq).completion_events.acknowledged(count); }

int req_notify_cq(ibv_cq* cq, int solicited_only) noexcept {
  return quickly_errno([&] {
    const auto armed = of(cq).engine.arm(solicited_only != 0 ? verbs::Arm::kSolicited : verbs::Arm::kAll);
    return armed ? 0 : refused("ibv_req_notify_cq", armed.error());
  });
}

namespace {

// Room that is not cleared: an empty poll is the commonest call of all.
struct Batch {
  static constexpr std::size_t kSize = 16;
  alignas(verbs::WorkCompletion) std::byte octets[kSize * sizeof(verbs::WorkCompletion)];
  std::span<verbs::WorkCompletion> first(std::size_t count) {
    return {reinterpret_cast<verbs::WorkCompletion*>(octets), std::min(count, kSize)};
  }
};
static_assert(std::is_trivially_copyable_v<verbs::WorkCompletion>);

}  // namespace

int poll_cq(ibv_cq* cq, int count, ibv_wc* completions) noexcept {
  return quickly_minus_one([&] {
    Batch batch;
    int done = 0;
    while (done < count) {
      const auto room = batch.first(static_cast<std::size_t>(count - done));
      if (const std::size_t left = take_left_over(of(cq), room); left > 0) {
        for (const auto& one : room.first(left)) completions[done++] = translate(one);
        continue;
      }
      const auto taken = of(cq).engine.poll(room);
      if (!taken) return done > 0 ? done : -refused("ibv_poll_cq", taken.error());
      for (const auto& one : room.first(*taken)) completions[done++] = translate(one);
      if (*taken < room.size()) break;
    }
    return done;
  });
}

}  // namespace weft::compat
