// SPDX-License-Identifier: Apache-2.0
// Protection domains and memory regions. Memory windows come through the operations of ibv_context.
#include "compat/objects/memory.hpp"

#include "compat/entry.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

namespace {

std::uint64_t same_offset(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

WEFT_DEFAULT_VERSION(ibv_alloc_pd, "IBVERBS_1.1");
WEFT_ENTRY ibv_pd* ibv_alloc_pd(ibv_context* context) { return compat::alloc_pd(context); }

WEFT_DEFAULT_VERSION(ibv_dealloc_pd, "IBVERBS_1.1");
WEFT_ENTRY int ibv_dealloc_pd(ibv_pd* pd) { return compat::dealloc_pd(pd); }

WEFT_DEFAULT_VERSION(ibv_reg_mr, "IBVERBS_1.1");
WEFT_ENTRY ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, std::size_t length, int access) {
  return compat::reg_mr(pd, addr, length, same_offset(addr), static_cast<unsigned>(access));
}

WEFT_ENTRY ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova, int access) {
  return compat::reg_mr(pd, addr, length, iova, static_cast<unsigned>(access));
}

// What ibv_reg_mr becomes when its rights are not a constant. The optional ones are hints: a provider that does not
// know them leaves them out.
WEFT_ENTRY ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova, unsigned access) {
  return compat::reg_mr(pd, addr, length, iova, access & ~static_cast<unsigned>(IBV_ACCESS_OPTIONAL_RANGE));
}

WEFT_ENTRY ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return compat::refused_null("ibv_reg_dmabuf_mr", EOPNOTSUPP, "the memory of another device is out of reach");
}

WEFT_ENTRY int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* addr, std::size_t length, int access) {
  return compat::rereg_mr(mr, flags, pd, addr, length, access);
}

WEFT_DEFAULT_VERSION(ibv_dereg_mr, "IBVERBS_1.1");
WEFT_ENTRY int ibv_dereg_mr(ibv_mr* mr) { return compat::dereg_mr(mr); }
