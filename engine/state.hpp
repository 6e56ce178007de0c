// SPDX-License-Identifier: Apache-2.0
// The parts of an Engine. Each part handles its own state; the methods here pass data between the parts:
//     state_startup.cpp   connect, accept, reject and their results
//     state_receive.cpp   octets and FIN of the peer
//     state_transmit.cpp  octets to the peer, completion of sent work
//     state_end.cpp       errors, close, abort, deadlines
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "engine/deadlines.hpp"
#include "engine/ending.hpp"
#include "engine/engine.hpp"
#include "engine/event_queue.hpp"
#include "engine/inbound.hpp"
#include "engine/outbound.hpp"
#include "engine/send_queue.hpp"
#include "engine/startup.hpp"
#include "rdmap/response_queue.hpp"
#include "rdmap/stream_state.hpp"

namespace weft::engine {

// RDMA mode: exists from the agreement of both ends on (MPA-7.1-07).
struct RdmaMode {
  struct Depths {
    std::uint32_t ird{};
    std::uint32_t ord{};
  };
  RdmaMode(const Config& config, const mpa::Agreement& agreement, const Depths& limits, SendQueue& queue,
           rdmap::Memory& memory);

  Depths depths;
  Inbound inbound;
  rdmap::ResponseQueue responses;
  Outbound outbound;
};

// The octets of our stream, as they go through batches to the socket.
struct OctetsOut {
  std::uint64_t appended = 0;  // to batches
  std::uint64_t taken = 0;     // of these, by the socket

  // A batch has some that the socket has not taken: work requests may have lent it memory.
  [[nodiscard]] bool on_loan() const noexcept { return appended != taken; }
};

// The negotiated parameters, until Established is reported to the user.
struct Announcement {
  std::unique_ptr<Established> terms{};
  bool awaits_rtr = false;    // responder, peer-to-peer: it comes with the first segment
  mpa::RtrTypes rtr_types{};  // of which kinds that may be: both ends have named them

  void await(const mpa::RtrTypes& types) noexcept {
    awaits_rtr = true;
    rtr_types = types;
  }
  // Returns true if the user still waits for it, and receives a failure instead.
  [[nodiscard]] bool cancel() noexcept { return std::exchange(awaits_rtr, false); }
};

struct Draining {
  bool on = false;          // drain() is
  bool to_be_told = false;  // SendQueueDrained is due
};

struct Engine::State {
  State(const Config& wanted, rdmap::Memory& owner, Instant now);

  // --- Startup
  void combine_immediate() noexcept;
  std::expected<void, StartupError> connect(Bytes private_data);
  std::expected<void, StartupError> accept(Bytes private_data, const AcceptParameters& parameters);
  std::expected<void, StartupError> reject(Bytes private_data);
  ReceiveResult receive_startup(MutableBytes octets, Instant now);
  void on_startup(const mpa::NeedMore& need, Instant now);
  void on_startup(const mpa::RequestReceived& request, Instant now);
  void on_startup(const mpa::Agreement& agreement, Instant now);
  void on_startup(const mpa::Rejection& rejection, Instant now);
  void on_startup(const mpa::StartupFailure& failure, Instant now);
  void enter_rdma_mode(const mpa::Agreement& agreement, const AcceptParameters& parameters);
  void announce(std::optional<mpa::Rtr> rtr);
  void first_segment(const InboundSegment& segment);

  // --- Receiving
  ReceiveResult receive(MutableBytes octets, Instant now, const mpa::Landed& landed);
  inline ReceiveResult receive_step(MutableBytes octets, Instant now, const mpa::Landed& landed);
  inline ReceiveResult receive_fpdu(MutableBytes octets, Instant now, const mpa::Landed& landed);
  Landing landing(Bytes octets);
  MutableBytes find_memory(std::monostate none, std::size_t size);
  MutableBytes find_memory(const SinkPlace& sink, std::size_t size);
  MutableBytes find_memory(const ReceivePlace& receive, std::size_t size);
  ReceiveResult wait_for_receive(Instant now);
  inline void watch_frame(bool another, Instant now) noexcept;
  void holds_part(bool on, Instant now) noexcept;
  inline void take(const InboundSegment& segment, Instant now);
  void deliver(const Placed& nothing, const InboundSegment& segment, Instant now);
  void deliver(const SendDelivered& send, const InboundSegment& segment, Instant now);
  void deliver(const ReadRequested& read, const InboundSegment& segment, Instant now);
  void deliver(const AtomicRequested& atomic, const InboundSegment& segment, Instant now);
  void deliver(const ReadAnswered& answer, const InboundSegment& segment, Instant now);
  void deliver(const AtomicAnswered& answer, const InboundSegment& segment, Instant now);
  void deliver(const TerminateDelivered& terminate, const InboundSegment& segment, Instant now);
  void queue_response(const rdmap::InboundRequest& request, Instant now);
  bool put_response(std::uint64_t ticket, std::uint32_t offset, Bytes octets, Instant now);
  [[nodiscard]] bool blame(const rdmap::Terminate& terminate);
  void end_of_stream(Instant now);
  void handle_fin(Instant now);

  // --- Sending
  std::expected<void, PostError> post(const WorkRequest& request);
  bool fill(TransmitBatch& batch, Instant now);
  inline void fill_startup(TransmitBatch& batch, Instant now);
  inline bool fill_fpdus(TransmitBatch& batch, Instant now);
  void written(std::size_t octets, Instant now);
  [[nodiscard]] bool may_send_fpdus() const noexcept;
  [[nodiscard]] bool has_output() const noexcept;
  void drain(bool on) noexcept;
  void set_emss(std::uint32_t emss) noexcept;
  void collect();  // completions that have become due
  std::optional<Event> poll_event();

  // --- Ending
  void fail(const Fault& fault, Instant now);  // an error in what arrived, or of our own
  void close(Instant now);
  void leave(Instant now);
  void connection_lost(Instant now);
  void give_up(Instant now);                 // the peer can no longer answer what we asked
  void end(Disposition how, bool graceful);  // everything is over
  void give_back_receive(WorkStatus status);
  void settle(Instant now);  // after each call: takes the steps that have become possible
  void settle_end(Instant now);
  [[nodiscard]] bool nothing_left_to_send() const noexcept;
  [[nodiscard]] std::optional<Instant> next_deadline() const noexcept;
  void deadline_passed(Instant now);
  void peers_deadline_passed(Instant now);
  inline void octets_moved(Instant now) noexcept;
  [[nodiscard]] inline Instant window_deadline(Instant now) const noexcept;
  void step(rdmap::StreamEvent event) noexcept { stream = rdmap::next(stream, event).value_or(stream); }

  Config config;
  rdmap::Memory& memory;
  Startup startup;
  SendQueue queue;
  EventQueue events;
  Ending ending{};
  rdmap::StreamState stream = rdmap::StreamState::kStartup;
  Announcement announcement{};
  std::optional<RdmaMode> rdma{};

  OctetsOut out{};
  std::size_t unconsumed = 0;  // octets of a frame that is not complete
  Deadlines deadlines{};
  Draining draining{};
  bool pad_remarked = false;
};

// Either way: the connection is not idle.
inline void Engine::State::octets_moved(Instant now) noexcept {
  if (config.idle_timeout == Duration{}) return;
  const bool counts = rdma && !announcement.awaits_rtr && !ending.begun();
  if (counts) deadlines.idle = now + config.idle_timeout;
}

}  // namespace weft::engine
