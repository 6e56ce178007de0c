// SPDX-License-Identifier: Apache-2.0
// Paths of datagrams: address handles and multicast groups.
#include "compat/entry.hpp"
#include "compat/objects/datagrams.hpp"

using namespace weft;

WEFT_DEFAULT_VERSION(ibv_create_ah, "IBVERBS_1.1");
WEFT_ENTRY ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attributes) { return compat::create_ah(pd, attributes); }
WEFT_ENTRY ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
  return compat::create_ah_from_wc(pd, wc, grh, port);
}
WEFT_ENTRY int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port, ibv_wc* wc, ibv_grh* grh,
                                   ibv_ah_attr* attributes) {
  return compat::init_ah_from_wc(context, port, wc, grh, attributes);
}
WEFT_DEFAULT_VERSION(ibv_destroy_ah, "IBVERBS_1.1");
WEFT_ENTRY int ibv_destroy_ah(ibv_ah* ah) { return compat::destroy_ah(ah); }

WEFT_DEFAULT_VERSION(ibv_attach_mcast, "IBVERBS_1.1");
WEFT_ENTRY int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* group, std::uint16_t) {
  return compat::attach_mcast(qp, group);
}
WEFT_DEFAULT_VERSION(ibv_detach_mcast, "IBVERBS_1.1");
WEFT_ENTRY int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* group, std::uint16_t) {
  return compat::detach_mcast(qp, group);
}
