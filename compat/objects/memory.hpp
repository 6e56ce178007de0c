// SPDX-License-Identifier: Apache-2.0
// Memory regions and windows as libibverbs' structures.
#pragma once

#include "compat/objects/context.hpp"

namespace weft::compat {

struct Mr : ibv_mr {
  Use use;
  verbs::MemoryRegion engine;
  const Alive<Mr> alive{this};
  Mr(ibv_pd& pd, void* address, std::size_t size, verbs::MemoryRegion region)
      : ibv_mr{.context = pd.context,
               .pd = &pd,
               .addr = address,
               .length = size,
               .handle = 0,
               .lkey = region.lkey(),
               .rkey = region.rkey()},
        use(&of(&pd).users),
        engine(std::move(region)) {}
};
inline Mr& of(ibv_mr* mr) noexcept { return *static_cast<Mr*>(mr); }

struct Mw : ibv_mw {
  const Use use;
  verbs::MemoryWindow engine;
  const Alive<Mw> alive{this};
  Mw(ibv_pd& pd, ibv_mw_type kind, verbs::MemoryWindow window)
      : ibv_mw{.context = pd.context, .pd = &pd, .rkey = window.next_rkey(), .handle = 0, .type = kind},
        use(&of(&pd).users),
        engine(std::move(window)) {}
};
inline Mw& of(ibv_mw* mw) noexcept { return *static_cast<Mw*>(mw); }

// `iova`: tagged offset of the first octet. Unknown optional access bits are masked.
ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) noexcept;
ibv_mr* alloc_null_mr(ibv_pd* pd) noexcept;
// A hint, which nothing here needs.
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list,
              std::uint32_t count) noexcept;
int dereg_mr(ibv_mr* mr) noexcept;
// Returns 0, or an IBV_REREG_MR_ERR_* and errno. Always those that say the old registration is still valid.
int rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) noexcept;
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) noexcept;
int dealloc_mw(ibv_mw* mw) noexcept;
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) noexcept;

}  // namespace weft::compat
