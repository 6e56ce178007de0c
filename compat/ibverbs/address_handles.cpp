// SPDX-License-Identifier: Apache-2.0
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
