// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/memory.hpp"

#include "compat/objects/queue_pair.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

// Hints that change nothing here.
constexpr unsigned kHints = IBV_ACCESS_OPTIONAL_RANGE | unsigned{IBV_ACCESS_HUGETLB};

verbs::Access access_of(unsigned flags) { return static_cast<verbs::Access>(flags & ~kHints); }

}  // namespace

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) noexcept {
  return guarded_null([&]() -> ibv_mr* {
    const verbs::Access rights = access_of(access);
    verbs::RegionOptions options;
    if (!has(rights, verbs::Access::kZeroBased)) options.iova = iova;
    auto region = of(pd).engine.register_memory(address, length, rights, options);
    if (!region) return refused_null("ibv_reg_mr", region.error());
    return new Mr(*pd, address, length, std::move(*region));
  });
}

int dereg_mr(ibv_mr* mr) noexcept {
  return guarded_errno([&] {
    if (const auto done = of(mr).engine.deregister(); !done) return refused("ibv_dereg_mr", done.error());
    delete &of(mr);
    return 0;
  });
}

// A new registration would need a new STag, and the program expects to keep its own.
int rereg_mr(ibv_mr*, int, ibv_pd*, void*, std::size_t, int) noexcept {
  errno = refused("ibv_rereg_mr", EOPNOTSUPP, "not supported: register anew");
  return IBV_REREG_MR_ERR_INPUT;
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) noexcept {
  return guarded_null([&]() -> ibv_mw* {
    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
      return refused_null("ibv_alloc_mw", EINVAL, "neither a type 1 nor a type 2 window");
    }
    auto window = of(pd).engine.allocate_window();
    if (!window) return refused_null("ibv_alloc_mw", window.error());
    return new Mw(*pd, type, std::move(*window));
  });
}

int dealloc_mw(ibv_mw* mw) noexcept {
  delete &of(mw);
  return 0;
}

// A type 1 window is bound by a call, with a key of our choice, and may be bound again; the engine has windows of type
// 2 alone. So the window that is bound is invalidated first, in the order of the send queue, and serves this queue pair
// alone, where a type 1 window would serve the whole domain.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) noexcept {
  return guarded_errno([&] {
    verbs::SendRequest requests[2];
    verbs::SendRequest* next = requests;
    Mw& window = of(mw);
    if (window.engine.bound()) *next++ = {.opcode = verbs::SendOpcode::kLocalInvalidate, .invalidate_rkey = mw->rkey};
    const auto flags = static_cast<verbs::SendFlags>(bind->send_flags);
    const ibv_mw_bind_info& info = bind->bind_info;
    const bool binds = info.length > 0 && info.mr != nullptr;
    const std::uint32_t rkey = window.engine.next_rkey();
    if (binds) {
      *next++ = {.wr_id = bind->wr_id,
                 .opcode = verbs::SendOpcode::kBindWindow,
                 .flags = flags,
                 .bind = {&window.engine, &of(info.mr).engine, rkey, info.addr, info.length,
                          static_cast<verbs::Access>(info.mw_access_flags)}};
    } else if (next != requests) {  // a length of 0 unbinds
      requests[0].wr_id = bind->wr_id;
      requests[0].flags = flags;
    }
    const auto posted = of(qp).engine.post_send({requests, next});
    if (!posted) return refused("ibv_bind_mw", posted.error().error);
    if (binds) mw->rkey = rkey;
    return 0;
  });
}

}  // namespace weft::compat
