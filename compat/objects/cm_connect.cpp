// SPDX-License-Identifier: Apache-2.0
// Connections: asked for, answered, ended.
#include <span>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat {

namespace {

std::span<const std::byte> octets(const void* data, std::size_t length) {
  if (data == nullptr) return {};
  return {static_cast<const std::byte*>(data), length};
}

// RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH: what the device can do, or what the peer asked for.
std::optional<std::uint32_t> depth(std::uint8_t wanted) {
  if (wanted == RDMA_MAX_RESP_RES) return std::nullopt;
  return wanted;
}

verbs::ConnectionParameters parameters_of(const rdma_conn_param* wanted) {
  if (wanted == nullptr) return {};
  return {.private_data = octets(wanted->private_data, wanted->private_data_len),
          .ird = depth(wanted->responder_resources),
          .ord = depth(wanted->initiator_depth)};
}

// Returns the queue pair of the identifier, or the one that the program created itself and names by its number.
Qp* choose_pair(CmId& id, const rdma_conn_param* wanted) {
  Qp* const pair = id.qp != nullptr ? &of(id.qp) : wanted != nullptr ? find_qp(wanted->qp_num) : nullptr;
  if (pair != nullptr && id.qp == nullptr) pair->named_by_id = true;
  if (pair != nullptr && id.ack_timeout) pair->set.timeout = *id.ack_timeout;
  id.pair = pair != nullptr ? pair->ticket : 0;  // before the engine's call: the event may be faster than its return
  return pair;
}

template <typename Ask>
int connect_pair(CmId& id, rdma_conn_param* wanted, std::string_view call, Ask ask) {
  Qp* const pair = choose_pair(id, wanted);
  if (pair == nullptr) return refused_minus_one(call, EINVAL, "no queue pair, and none of this number");
  verbs::QueuePair* engine = &pair->engine;
  if (pair->datagrams) {
    if (id.own_pair) return refused_minus_one(call, EINVAL, "the id has a connection");
    auto made = make_own_queue_pair(id);
    if (!made) return refused_minus_one(call, made.error());
    id.own_pair = std::move(*made);  // before the engine's call: the event may be faster than its return
    engine = &id.own_pair->pair;
  }
  if (confirms_writes()) engine->confirm_writes();
  if (const verbs::Result<void> begun = ask(*engine, parameters_of(wanted)); !begun) {
    if (pair->datagrams) id.own_pair.reset();
    return refused_minus_one(call, begun.error());
  }
  refresh_pair(id);
  return complete(id);
}

std::uint32_t named_pair(const rdma_conn_param* wanted) { return wanted != nullptr ? wanted->qp_num : 0; }

int reject(rdma_cm_id* id, const void* private_data, std::uint8_t length, std::string_view call) {
  if (id == nullptr) return refused_minus_one(call, EINVAL, "id is null");
  if (has_datagrams(of(id))) return refuse_queue_pair(of(id), octets(private_data, length));
  const auto rejected = of(id).engine.reject(octets(private_data, length));
  return rejected ? 0 : refused_minus_one(call, rejected.error());
}

}  // namespace

int cm_connect(rdma_cm_id* id, rdma_conn_param* parameters) {
  return waiting_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_connect", EINVAL, "id is null");
    CmId& self = of(id);
    if (cm_get_dst_port(id) == 0) return refused_minus_one("rdma_connect", EINVAL, "the destination has no port");
    if (has_datagrams(self)) {
      return ask_for_queue_pair(self, named_pair(parameters), parameters_of(parameters).private_data);
    }
    // Where the queue pair is the program's own affair, an adapter for InfiniBand or RoCE reports CONNECT_RESPONSE, and
    // the program answers by rdma_establish.
    self.establishes = id->qp == nullptr && device_kind() == verbs::DeviceKind::kRoce;
    return connect_pair(self, parameters, "rdma_connect",
                        [&](verbs::QueuePair& pair, const auto& wanted) { return self.engine.connect(pair, wanted); });
  });
}

int cm_accept(rdma_cm_id* id, rdma_conn_param* parameters) {
  return waiting_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_accept", EINVAL, "id is null");
    CmId& self = of(id);
    if (has_datagrams(self)) {  // no event comes of it
      return answer_with_queue_pair(self, named_pair(parameters), parameters_of(parameters).private_data);
    }
    return connect_pair(self, parameters, "rdma_accept",
                        [&](verbs::QueuePair& pair, const auto& wanted) { return self.engine.accept(pair, wanted); });
  });
}

int cm_reject(rdma_cm_id* id, const void* private_data, uint8_t private_data_len) noexcept {
  return guarded_minus_one([&] { return reject(id, private_data, private_data_len, "rdma_reject"); });
}

int cm_reject_ece(rdma_cm_id* id, const void* private_data, uint8_t private_data_len) noexcept {
  return guarded_minus_one([&] { return reject(id, private_data, private_data_len, "rdma_reject_ece"); });
}

// Synchronous operation waits for DISCONNECTED, unless that was delivered before: there will not be another.
int cm_disconnect(rdma_cm_id* id) {
  return waiting_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_disconnect", EINVAL, "id is null");
    CmId& self = of(id);
    const bool event_to_come = self.connected;
    if (const auto done = self.engine.disconnect(); !done) return refused_minus_one("rdma_disconnect", done.error());
    refresh_pair(self);
    return event_to_come ? complete(self) : 0;
  });
}

}  // namespace weft::compat
