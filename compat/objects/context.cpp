// SPDX-License-Identifier: Apache-2.0
// Opens of a device: what the inline functions of <infiniband/verbs.h> call through.
#include "compat/objects/context.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "compat/objects/memory.hpp"
#include "compat/objects/queue_pair.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat {

namespace {

void furnish(verbs_context& table) {
  table.sz = sizeof(verbs_context);
  table.query_port = query_port;
  table.query_device_ex = query_device_ex;
  table.create_cq_ex = create_cq_ex;
  table.modify_cq = modify_cq;
  table.create_qp_ex = create_qp_ex;
  table.create_srq_ex = create_srq_ex;
  table.alloc_td = alloc_td;
  table.dealloc_td = dealloc_td;
  table.alloc_parent_domain = alloc_parent_domain;
  table.advise_mr = advise_mr;
  table.alloc_null_mr = alloc_null_mr;
}

void furnish(ibv_context_ops& table) {
  table.alloc_mw = alloc_mw;
  table.bind_mw = bind_mw;
  table.dealloc_mw = dealloc_mw;
  table.poll_cq = poll_cq;
  table.req_notify_cq = req_notify_cq;
  table.post_srq_recv = post_srq_recv;
  table.post_send = post_send;
  table.post_recv = post_recv;
}

struct Shared {
  std::unique_ptr<Context> context{};
  std::unique_ptr<Pd> domain{};
};
struct SharedOpens {
  TableMutex mutex{};
  std::map<pid_t, std::map<Device*, Shared>> by_process{};  // those of a parent stay with it: fork(2)

  std::map<Device*, Shared>& here() { return by_process[::getpid()]; }
};

// Never destroyed, see Registry.
SharedOpens& shared_opens() {
  static auto* const all = new SharedOpens;
  return *all;
}

// An object by its address alone, for it may have been freed; a parent process's, too.
template <typename Object, typename Of>
bool is_shared(const Object* object, Of of) {
  SharedOpens& all = shared_opens();
  const std::lock_guard lock(all.mutex);
  return std::ranges::any_of(all.by_process, [&](const auto& process) {
    return std::ranges::any_of(process.second, [&](const auto& open) { return of(open.second) == object; });
  });
}
bool is_shared(const ibv_context* context) {
  return is_shared(context, [](const Shared& open) { return open.context ? &open.context->context : nullptr; });
}
bool is_shared(const ibv_pd* domain) {
  return is_shared(domain, [](const Shared& open) -> const ibv_pd* { return open.domain.get(); });
}

}  // namespace

Context::Context(Device& device, verbs::Device opened) : verbs_context{}, engine(std::move(opened)) {
  furnish(*static_cast<verbs_context*>(this));
  furnish(context.ops);
  context.device = &device;
  context.cmd_fd = eventfd(0, EFD_CLOEXEC);  // programs want it valid, and never use it
  context.async_fd = engine.async_descriptor();
  context.num_comp_vectors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  pthread_mutex_init(&context.mutex, nullptr);
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

Context::~Context() {
  if (context.cmd_fd >= 0) ::close(context.cmd_fd);
  pthread_mutex_destroy(&context.mutex);
}

ibv_context* open_device(ibv_device* device) noexcept {
  return guarded_null([&]() -> ibv_context* {
    static_cast<void>(connection_policy());
    auto opened = verbs::Device::open(std::string_view(of(device).name));
    if (!opened) return refused_null("ibv_open_device", opened.error());
    return &(new Context(of(device), std::move(*opened)))->context;
  });
}

// Programs close what they have as rdma_cm_id::verbs, and rdma-core says 0. Here identifiers may go on using it.
int close_device(ibv_context* context) noexcept {
  return guarded_errno([&] {
    if (is_shared(context)) return 0;
    const int error = claim("ibv_close_device", *context);
    if (error == 0) dispose(of(context));
    return error;
  });
}

Context* shared_context(Device& device) {
  SharedOpens& all = shared_opens();
  const std::lock_guard lock(all.mutex);
  Shared& shared = all.here()[&device];
  if (shared.context) return shared.context.get();
  auto opened = verbs::Device::open(std::string_view(device.name));
  if (!opened) return refused_null("rdma_cm", opened.error());
  shared.context = std::make_unique<Context>(device, std::move(*opened));
  return shared.context.get();
}

Pd* shared_domain(Context& context) {
  SharedOpens& all = shared_opens();
  const std::lock_guard lock(all.mutex);
  Shared& shared = all.here()[&context.device()];
  if (shared.domain) return shared.domain.get();
  auto domain = context.engine.allocate_protection_domain();
  if (!domain) return refused_null("rdma_cm", domain.error());
  shared.domain = std::make_unique<Pd>(&context.context, std::move(*domain));
  return shared.domain.get();
}

ibv_pd* alloc_pd(ibv_context* context) noexcept {
  return guarded_null([&]() -> ibv_pd* {
    auto domain = of(context).engine.allocate_protection_domain();
    if (!domain) return refused_null("ibv_alloc_pd", domain.error());
    return new Pd(context, std::move(*domain));
  });
}

int dealloc_pd(ibv_pd* pd) noexcept {
  return guarded_errno([&] {
    constexpr std::string_view kCall = "ibv_dealloc_pd";
    constexpr std::string_view kUsed = "memory or queues still belong to it";
    const auto used = [pd] { return of(pd).users.any(); };
    if (is_shared(pd))
      return used() && !of(pd).alive.inherited() ? refused(kCall, EBUSY, kUsed) : 0;  // rdma_cm_id::pd: as above
    const int error = claim(kCall, of(pd), kUsed, used);
    if (error == 0) dispose(of(pd));
    return error;
  });
}

// --- Hints: which threads use what

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attributes) noexcept {
  return guarded_null([&]() -> ibv_td* {
    if (attributes == nullptr || attributes->comp_mask != 0) {
      return refused_null("ibv_alloc_td", EINVAL, "comp_mask: contains an undefined bit");
    }
    return new Td(context);
  });
}

int dealloc_td(ibv_td* td) noexcept {
  return guarded_errno([&] {
    const int error = claim("ibv_dealloc_td", of(td), "a parent domain still belongs to it",  //
                            [td] { return of(td).users.any(); });
    if (error == 0) dispose(of(td));
    return error;
  });
}

// Allocators are for the queues that a driver shares with its adapter: there are none.
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes) noexcept {
  return guarded_null([&]() -> ibv_pd* {
    constexpr std::uint32_t kKnown = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    constexpr std::string_view kCall = "ibv_alloc_parent_domain";
    if (attributes == nullptr || (attributes->comp_mask & ~kKnown) != 0) {
      return refused_null(kCall, EINVAL, "comp_mask: contains an undefined bit");
    }
    if (attributes->pd == nullptr || attributes->pd->context != context) {
      return refused_null(kCall, EINVAL, "pd: null, or of another open of a device");
    }
    if (attributes->td != nullptr && attributes->td->context != context) {
      return refused_null(kCall, EINVAL, "td: of another open of a device");
    }
    Pd& domain = of(attributes->pd);
    return new Pd(context, domain.engine, &domain.users,
                  attributes->td != nullptr ? &of(attributes->td).users : nullptr);
  });
}

}  // namespace weft::compat
