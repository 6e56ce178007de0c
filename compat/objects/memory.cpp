// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/memory.hpp"

#include "compat/objects/enums.hpp"
#include "compat/objects/queue_pair.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

// Hints that change no rights.
constexpr unsigned kHints = IBV_ACCESS_OPTIONAL_RANGE | unsigned{IBV_ACCESS_HUGETLB} | unsigned{IBV_ACCESS_ON_DEMAND};

verbs::Access access_of(unsigned flags) { return static_cast<verbs::Access>(flags & ~kHints); }

}  // namespace

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) noexcept {
  return guarded_null([&]() -> ibv_mr* {
    const verbs::Access rights = access_of(access);
    verbs::RegionOptions options;
    if (!has(rights, verbs::Access::kZeroBased)) options.iova = iova;
    options.on_demand = (access & IBV_ACCESS_ON_DEMAND) != 0;
    auto region = of(pd).engine.register_memory(address, length, rights, options);
    if (!region) return refused_null("ibv_reg_mr", region.error());
    return new Mr(*pd, address, length, std::move(*region));
  });
}

ibv_mr* alloc_null_mr(ibv_pd* pd) noexcept {
  return guarded_null([&]() -> ibv_mr* {
    auto region = of(pd).engine.register_null();
    if (!region) return refused_null("ibv_alloc_null_mr", region.error());
    return new Mr(*pd, nullptr, 0, std::move(*region));
  });
}

// All pages of a region are there already, or are faulted in by the first access.
int advise_mr(ibv_pd*, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list, std::uint32_t count) noexcept {
  constexpr std::string_view kCall = "ibv_advise_mr";
  const std::int64_t kind = number(advice);
  if (kind < IBV_ADVISE_MR_ADVICE_PREFETCH || kind > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) {
    return refused(kCall, EOPNOTSUPP, "advice: not known");
  }
  if ((flags & ~std::uint32_t{IBV_ADVISE_MR_FLAG_FLUSH}) != 0) {
    return refused(kCall, EINVAL, "flags: contains an undefined bit");
  }
  if (list == nullptr || count == 0) return refused(kCall, EINVAL, "no memory");
  return 0;
}

int dereg_mr(ibv_mr* mr) noexcept {
  return guarded_errno([&] {
    if (const int error = claim("ibv_dereg_mr", of(mr)); error != 0) return error;
    if (const auto done = of(mr).engine.deregister(); !done) {
      Living<Mr>::instance().enter(&of(mr));
      return refused("ibv_dereg_mr", done.error());
    }
    dispose(of(mr));
    return 0;
  });
}

namespace {

// Returns null when there is nothing against it.
const char* complaint(const ibv_mr* mr, unsigned flags, const ibv_pd* pd, const void* address, std::size_t length) {
  if (flags == 0 || (flags & ~unsigned{IBV_REREG_MR_FLAGS_SUPPORTED}) != 0) return "no such flags";
  if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 && (address == nullptr || length == 0)) return "no memory";
  if ((flags & IBV_REREG_MR_CHANGE_PD) == 0) return nullptr;
  if (pd == nullptr) return "the protection domain is null";
  return pd->context == mr->context ? nullptr : "the protection domain is of another open of a device";
}

}  // namespace

// As ibv_rereg_mr(3) has it: a deregistration followed by a registration. Here the new one comes first, so that the old
// one is still there when it fails. Its keys are others: the old ones give no access to the new memory. When this
// returns, weft touches the old memory no more (SEC-6.2.2-02, RDMAP-8.1.1-06). Bound windows stand in the way (EBUSY).
int rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) noexcept {
  const auto fail = [](int error) {
    errno = error;
    return IBV_REREG_MR_ERR_INPUT;
  };
  const auto body = [&]() -> int {
    const auto wanted = static_cast<unsigned>(flags);
    if (const char* why = complaint(mr, wanted, pd, address, length)) return fail(refused("ibv_rereg_mr", EINVAL, why));
    Mr& self = of(mr);
    const bool moves = (wanted & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    if ((wanted & IBV_REREG_MR_CHANGE_PD) == 0) pd = mr->pd;
    if (!moves) address = mr->addr, length = mr->length;
    const bool other_rights = (wanted & IBV_REREG_MR_CHANGE_ACCESS) != 0;
    const verbs::Access rights = other_rights ? access_of(static_cast<unsigned>(access)) : self.engine.access();
    verbs::RegionOptions options;
    const bool keeps_offset = !moves && !has(self.engine.access(), verbs::Access::kZeroBased);
    if (keeps_offset && !has(rights, verbs::Access::kZeroBased)) options.iova = self.engine.iova();
    auto next = of(pd).engine.register_memory(address, length, rights, options);
    if (!next) return fail(refused("ibv_rereg_mr", next.error()));
    if (const auto done = self.engine.deregister(); !done) return fail(refused("ibv_rereg_mr", done.error()));
    self.engine = std::move(*next);
    self.use.move_to(&of(pd).users);
    mr->pd = pd;
    mr->addr = address;
    mr->length = length;
    mr->lkey = self.engine.lkey();
    mr->rkey = self.engine.rkey();
    return 0;
  };
  return guarded(body, fail);
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) noexcept {
  return guarded_null([&]() -> ibv_mw* {
    const std::int64_t kind = number(type);
    if (kind != IBV_MW_TYPE_1 && kind != IBV_MW_TYPE_2) {
      return refused_null("ibv_alloc_mw", EINVAL, "neither a type 1 nor a type 2 window");
    }
    auto window = of(pd).engine.allocate_window(static_cast<verbs::WindowType>(kind));
    if (!window) return refused_null("ibv_alloc_mw", window.error());
    return new Mw(*pd, type, std::move(*window));
  });
}

int dealloc_mw(ibv_mw* mw) noexcept {
  return guarded_errno([&] {
    const int error = claim("ibv_dealloc_mw", of(mw));
    if (error == 0) dispose(of(mw));
    return error;
  });
}

// A type 1 window is bound by a call, with a key of our choice: neither the last one nor that of a bind that waits.
// A length of 0 unbinds.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) noexcept {
  return guarded_errno([&] {
    if (of(qp).datagrams) return refused("ibv_bind_mw", EINVAL, "qp: UD queue pairs cannot bind windows");
    Mw& window = of(mw);
    const ibv_mw_bind_info& info = bind->bind_info;
    const std::uint32_t rkey = window.engine.next_rkey(mw->rkey);
    const verbs::SendRequest request{
        .wr_id = bind->wr_id,
        .opcode = verbs::SendOpcode::kBindWindow,
        .flags = static_cast<verbs::SendFlags>(bind->send_flags),
        .bind = {&window.engine, info.mr != nullptr ? &of(info.mr).engine : nullptr, rkey, info.addr, info.length,
                 static_cast<verbs::Access>(info.mw_access_flags)}};
    const auto posted = of(qp).sender().post_send({&request, 1});
    if (!posted) return refused("ibv_bind_mw", posted.error().error);
    mw->rkey = rkey;
    return 0;
  });
}

}  // namespace weft::compat
