// SPDX-License-Identifier: Apache-2.0
// What libibverbs has had since rdma-core 44, whose headers weft is built with: IBVERBS_1.15 to 1.18. A program that
// names one of these has to load, and is told ENOSYS, or what it asks for where that is no more than an older call.
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "compat/entry.hpp"
#include "compat/objects/memory.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

namespace {

constexpr const char* kNotHere = "of a later libibverbs, and not in weft";

// struct ibv_mr_init_attr up to the members that are understood.
struct MrInitAttr {
  std::size_t length;
  int access;
  std::uint64_t comp_mask;
  std::uint64_t iova;
  void* addr;
};
constexpr std::uint64_t kMaskIova = 1, kMaskAddr = 2;

}  // namespace

#define NO_POINTER(name) \
  WEFT_ENTRY_NAMED(void*, weft_##name, name) { return compat::refused_null(#name, ENOSYS, kNotHere); }
#define NO_ERRNO(name) \
  WEFT_ENTRY_NAMED(int, weft_##name, name) { return compat::refused(#name, ENOSYS, kNotHere); }
#define NO_DESCRIPTOR(name) \
  WEFT_ENTRY_NAMED(int, weft_##name, name) { return compat::refused_minus_one(#name, ENOSYS, kNotHere); }

// --- 1.15 (rdma-core 59)
NO_POINTER(ibv_alloc_dmah)
NO_ERRNO(ibv_dealloc_dmah)
WEFT_ENTRY_NAMED(ibv_mr*, weft_ibv_reg_mr_ex, ibv_reg_mr_ex, ibv_pd* pd, MrInitAttr* wanted) {
  if (wanted == nullptr || (wanted->comp_mask & ~(kMaskIova | kMaskAddr)) != 0 ||
      (wanted->comp_mask & kMaskAddr) == 0) {
    return compat::refused_null("ibv_reg_mr_ex", EOPNOTSUPP, "comp_mask: only memory of the program, by its address");
  }
  const bool offset = (wanted->comp_mask & kMaskIova) != 0;
  return compat::reg_mr(pd, wanted->addr, wanted->length,
                        offset ? wanted->iova : reinterpret_cast<std::uintptr_t>(wanted->addr),
                        static_cast<unsigned>(wanted->access));
}

// --- 1.16 (62)
NO_DESCRIPTOR(ibv_dm_export_dmabuf_fd)
NO_ERRNO(ibv_query_port_speed)

// --- 1.17 (64)
NO_POINTER(ibv_alloc_buf)
WEFT_ENTRY_NAMED(void, weft_ibv_free_buf, ibv_free_buf) {}  // there is none
NO_POINTER(ibv_reg_buf_mr)

// --- 1.18 (65)
NO_ERRNO(_ibv_query_comp_cntr_caps)
NO_POINTER(ibv_create_comp_cntr)
NO_ERRNO(ibv_destroy_comp_cntr)
NO_ERRNO(ibv_set_comp_cntr)
NO_ERRNO(ibv_set_err_comp_cntr)
NO_ERRNO(ibv_read_comp_cntr)
NO_ERRNO(ibv_read_err_comp_cntr)
NO_ERRNO(ibv_inc_comp_cntr)
NO_ERRNO(ibv_inc_err_comp_cntr)
NO_ERRNO(ibv_qp_attach_comp_cntr)
NO_DESCRIPTOR(ibv_export_buf_dmabuf_fd)
