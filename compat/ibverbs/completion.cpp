// SPDX-License-Identifier: Apache-2.0
// Completion channels and queues. Polling and arming come through the operations of ibv_context.
#include "compat/objects/completion.hpp"

#include "compat/entry.hpp"

using namespace weft;

WEFT_ENTRY ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return compat::create_comp_channel(context);
}
WEFT_ENTRY int ibv_destroy_comp_channel(ibv_comp_channel* channel) { return compat::destroy_comp_channel(channel); }

WEFT_DEFAULT_VERSION(ibv_create_cq, "IBVERBS_1.1");
WEFT_ENTRY ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                                 int comp_vector) {
  return compat::create_cq(context, cqe, cq_context, channel, comp_vector);
}

WEFT_DEFAULT_VERSION(ibv_resize_cq, "IBVERBS_1.1");
WEFT_ENTRY int ibv_resize_cq(ibv_cq* cq, int cqe) { return compat::resize_cq(cq, cqe); }

WEFT_DEFAULT_VERSION(ibv_destroy_cq, "IBVERBS_1.1");
WEFT_ENTRY int ibv_destroy_cq(ibv_cq* cq) { return compat::destroy_cq(cq); }

WEFT_DEFAULT_VERSION(ibv_get_cq_event, "IBVERBS_1.1");
WEFT_ENTRY int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  return compat::get_cq_event(channel, cq, cq_context);
}

WEFT_DEFAULT_VERSION(ibv_ack_cq_events, "IBVERBS_1.1");
WEFT_ENTRY void ibv_ack_cq_events(ibv_cq* cq, unsigned nevents) { compat::ack_cq_events(cq, nevents); }
