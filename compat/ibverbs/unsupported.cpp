// SPDX-License-Identifier: Apache-2.0
// What weft has not: objects of another process.
#include "compat/entry.hpp"
#include "compat/objects/context.hpp"
#include "compat/objects/report.hpp"

using namespace weft;

namespace {

constexpr const char* kNotShared = "objects are not shared between processes";

}  // namespace

WEFT_ENTRY int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, std::uint8_t*, std::uint16_t*) {
  return compat::refused_minus_one("ibv_resolve_eth_l2_from_gid", EOPNOTSUPP, "a GID addresses nothing here");
}

WEFT_ENTRY ibv_context* ibv_import_device(int) {
  return compat::refused_null("ibv_import_device", EOPNOTSUPP, kNotShared);
}
WEFT_ENTRY ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) {
  return compat::refused_null("ibv_import_pd", EOPNOTSUPP, kNotShared);
}
WEFT_ENTRY void ibv_unimport_pd(ibv_pd*) {}
WEFT_ENTRY ibv_mr* ibv_import_mr(ibv_pd*, std::uint32_t) {
  return compat::refused_null("ibv_import_mr", EOPNOTSUPP, kNotShared);
}
WEFT_ENTRY void ibv_unimport_mr(ibv_mr*) {}
WEFT_ENTRY ibv_dm* ibv_import_dm(ibv_context*, std::uint32_t) {
  return compat::refused_null("ibv_import_dm", EOPNOTSUPP, kNotShared);
}
WEFT_ENTRY void ibv_unimport_dm(ibv_dm*) {}
