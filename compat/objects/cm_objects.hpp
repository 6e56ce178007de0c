// SPDX-License-Identifier: Apache-2.0
// Event channels, identifiers and events as librdmacm's structures, and what the cm_*.cpp files share.
#pragma once

#include <rdma/rdma_cma.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/objects/cm_datagrams.hpp"
#include "compat/objects/cm_multicast.hpp"
#include "compat/objects/queue_pair.hpp"
#include "verbs/connection.hpp"

namespace weft::compat {

// Its fd is the engine's own descriptor: it may be polled, duplicated or made non-blocking.
struct CmChannel : rdma_event_channel {
  explicit CmChannel(verbs::EventChannel opened)
      : rdma_event_channel{.fd = opened.descriptor()}, engine(std::move(opened)) {}
  verbs::EventChannel engine;
  const Alive<CmChannel> alive{this};
};
inline CmChannel& of(rdma_event_channel* channel) noexcept { return *static_cast<CmChannel*>(channel); }

// A completion queue that rdma_create_qp made because the program gave none, and its channel.
struct MadeQueue {
  ibv_comp_channel* channel = nullptr;
  ibv_cq* queue = nullptr;
};

// What the engine needs to connect where the program has no queue pair for it: to send a question, and for a connection
// that the program wants for its private data alone (UCX, which names a queue pair for datagrams). It gets no work.
struct OwnQueuePair {
  verbs::CompletionQueue queue;
  verbs::QueuePair pair;
};

// What rdma_create_ep gave a listener for its connections.
struct EndpointPlan {
  ibv_pd* pd = nullptr;
  ibv_qp_init_attr attributes{};
};

// From its construction on, events find it by its ticket, which is the engine's context of it.
struct CmId : rdma_cm_id {
  CmId(verbs::ConnectionId made, std::uint64_t number, rdma_event_channel* reports_to, void* program_context,
       rdma_port_space space);
  ~CmId();
  CmId(const CmId&) = delete;
  CmId& operator=(const CmId&) = delete;

  [[nodiscard]] bool synchronous() const noexcept { return own_channel != nullptr; }

  const Alive<CmId> alive{this};
  const std::uint64_t ticket;                // in Registry<CmId>
  std::unique_ptr<CmChannel> own_channel{};  // of an identifier of synchronous operation, else null
  verbs::ConnectionId engine;
  Acknowledgements events;  // a listener's count its connection requests too
  std::optional<EndpointPlan> plan{};
  std::unique_ptr<OwnQueuePair> own_pair{};  // from rdma_connect or rdma_accept on, where the program has none for it
  bool establishes = false;                  // the program does, by rdma_establish: see cm_connect()
  Memberships groups{};                      // RDMA_PS_UDP
  MadeQueue made_send{};
  MadeQueue made_receive{};
  std::optional<std::uint8_t> ack_timeout{};  // RDMA_OPTION_ID_ACK_TIMEOUT: ibv_query_qp tells it
  std::atomic<bool> connected = false;        // from the ESTABLISHED event to the DISCONNECTED event, as delivered
  std::atomic<std::uint64_t> pair{0};  // ticket of the queue pair that it connects: programs may destroy that first
};
inline CmId& of(rdma_cm_id* id) noexcept { return *static_cast<CmId*>(id); }

struct CmEvent : rdma_cm_event {
  CmEvent() : rdma_cm_event{} {}
  const Alive<CmEvent> alive{this};
  CmId* counts_for = nullptr;  // whose acknowledgement this is; the listener of a connection request
  std::vector<std::byte> private_data{};
};
inline CmEvent& of(rdma_cm_event* event) noexcept { return *static_cast<CmEvent*>(event); }

// Opens a channel. Returns null with errno on failure.
std::unique_ptr<CmChannel> open_cm_channel(std::string_view call);

// --- Synchronous operation
// Returns 0 at once if the identifier has a channel of the program. Otherwise waits for the next event, which the
// identifier then holds, and returns its result: 0, or -1 with errno.
int complete(CmId& id);
// Acknowledges the event that the id holds.
void release_event(CmId& id);
// Gives it a channel of its own. -1 and errno.
int make_synchronous(CmId& id, std::string_view call);

// --- Identifiers
// Returns the length of an IPv4 or IPv6 address; for another family, that of the family member alone.
[[nodiscard]] std::size_t length_of(const sockaddr& address) noexcept;
// Creates an identifier that reports to `channel`, or to a channel of its own if that is null. Returns null with errno
// on failure.
std::unique_ptr<CmId> make_cm_id(std::string_view call, rdma_event_channel* channel, void* context, std::int64_t space);
// Sets verbs, port_num and the device's default domain. An errno.
int adopt_device(CmId& id, Context& context);
// Copies the local address from the engine, and adopts its device, if it has none yet. An errno.
int adopt_local_address(CmId& id);
// For an identifier that was bound to a loopback address and shown no device: it is used, and so it has one.
void adopt_late(CmId& id);
verbs::Result<std::unique_ptr<OwnQueuePair>> make_own_queue_pair(CmId& id);
// qp->state of the queue pair that it connects, if that still exists.
void refresh_pair(CmId& id);

}  // namespace weft::compat
