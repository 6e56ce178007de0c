// SPDX-License-Identifier: Apache-2.0
// rdma_create_ep and rdma_get_request: identifiers of synchronous operation, made with all that belongs to them.
#include <cerrno>
#include <utility>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

namespace {

constexpr int kResolveTimeout = 2000;  // ms; ignored, see cm_resolve_addr

int prepare_listener(CmId& id, const rdma_addrinfo& at, ibv_pd* pd, const ibv_qp_init_attr* attributes) {
  if (cm_bind_addr(&id, at.ai_src_addr) != 0) return -1;
  if (attributes != nullptr) id.plan = EndpointPlan{pd, *attributes};
  return 0;
}

int prepare_initiator(CmId& id, const rdma_addrinfo& at, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  if (cm_resolve_addr(&id, at.ai_src_addr, at.ai_dst_addr, kResolveTimeout) != 0) return -1;
  if (cm_resolve_route(&id, kResolveTimeout) != 0) return -1;
  if (attributes == nullptr) return 0;
  attributes->qp_type = id.qp_type;
  return cm_create_qp(&id, pd, attributes);
}

struct DestroyEndpoint {
  void operator()(rdma_cm_id* id) const noexcept {
    const int error = errno;  // of the failure that led here
    cm_destroy_ep(id);
    errno = error;
  }
};
using EndpointOwner = std::unique_ptr<rdma_cm_id, DestroyEndpoint>;

// Acknowledges an event that goes nowhere.
struct Acknowledge {
  void operator()(rdma_cm_event* event) const noexcept { cm_ack_cm_event(event); }
};

int create_planned_pair(CmId& id, const std::optional<EndpointPlan>& plan) {
  if (!plan) return 0;
  ibv_qp_init_attr attributes = plan->attributes;  // is written to
  attributes.qp_type = id.qp_type;
  return cm_create_qp(&id, plan->pd, &attributes);
}

}  // namespace

int cm_create_ep(rdma_cm_id** id, rdma_addrinfo* at, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  return waiting_minus_one([&] {
    if (id == nullptr || at == nullptr) return refused_minus_one("rdma_create_ep", EINVAL, "null pointer");
    if (at->ai_qp_type < IBV_QPT_RC || at->ai_qp_type > IBV_QPT_DRIVER) {
      return refused_minus_one("rdma_create_ep", EINVAL, "ai_qp_type: no such type of queue pair");
    }
    auto made = make_cm_id("rdma_create_ep", nullptr, nullptr, at->ai_port_space);
    if (!made) return -1;
    made->qp_type = static_cast<ibv_qp_type>(at->ai_qp_type);
    CmId& self = *made;
    EndpointOwner owner(made.release());
    const bool passive = (at->ai_flags & RAI_PASSIVE) != 0;
    const int failed = passive ? prepare_listener(self, *at, pd, attributes)  //
                               : prepare_initiator(self, *at, pd, attributes);
    if (failed != 0) return -1;
    *id = owner.release();
    return 0;
  });
}

void cm_destroy_ep(rdma_cm_id* id) noexcept {
  if (id == nullptr) return;
  if (!Living<CmId>::instance().with(&of(id), [] {})) {
    refused("rdma_destroy_ep", EINVAL, kNotAlive);
    return;
  }
  cm_destroy_qp(id);
  cm_destroy_srq(id);
  cm_destroy_id(id);
}

int cm_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  return waiting_minus_one([&] {
    constexpr std::string_view kCall = "rdma_get_request";
    if (listener == nullptr || id == nullptr) return refused_minus_one(kCall, EINVAL, "null pointer");
    if (!of(listener).synchronous()) return refused_minus_one(kCall, EINVAL, "the listener has an event channel");
    release_event(of(listener));
    rdma_cm_event* event = nullptr;
    if (cm_get_cm_event(listener->channel, &event) != 0) return -1;
    std::unique_ptr<rdma_cm_event, Acknowledge> pending(event);
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
      return refused_minus_one(kCall, EINVAL, cm_event_str(event->event));
    EndpointOwner request(event->id);
    if (create_planned_pair(of(event->id), of(listener).plan) != 0) return -1;
    *id = request.release();
    (*id)->event = pending.release();  // until the next call that waits
    return 0;
  });
}

}  // namespace weft::compat
