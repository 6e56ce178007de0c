// SPDX-License-Identifier: Apache-2.0
// What an engine tells its user. Events are polled with Engine::poll_event, never called back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/work.hpp"
#include "mpa/errors.hpp"
#include "rdmap/errors.hpp"

namespace weft::engine {

// --- Start-up

// Responder: a valid MPA Request arrived; answer with Engine::accept or Engine::reject.
struct ConnectionRequested {
  std::uint8_t revision{};
  std::optional<std::uint16_t> peer_ird{};  // absent: revision 1, or the peer does not negotiate (0x3FFF)
  std::optional<std::uint16_t> peer_ord{};
  bool peer_to_peer{};
  std::vector<std::byte> private_data{};
};

// What both ends settled on. In force from this event on.
struct Established {
  std::uint8_t revision{};
  bool enhanced{};
  bool crc{};
  bool markers_in{};
  bool markers_out{};
  std::uint32_t ird{};  // inbound RDMA Reads and atomics that we admit at a time
  std::uint32_t ord{};  // outbound ones that we keep outstanding
  std::optional<std::uint16_t> peer_ird{};
  std::optional<std::uint16_t> peer_ord{};
  std::string_view rtr{};                 // "none", "send", "write" or "read"
  std::vector<std::byte> private_data{};  // initiator: the Reply's
};

struct Rejected {  // initiator: the Reply had R set
  std::optional<std::uint16_t> peer_ird{};
  std::optional<std::uint16_t> peer_ord{};
  bool retry_with_revision_1{};  // by a peer that only speaks revision 1: a new connection may work (MPA2-10-12)
  std::vector<std::byte> private_data{};
  bool takes_no_rtr{};  // it supports no ready-to-receive indication, and we asked for one (docs in mpa/agreement.hpp)
};

// --- Data

struct SendCompleted {  // a work request of the send queue, in the order of posting
  std::uint64_t cookie{};
  Operation operation{};
  WorkStatus status{};
  std::uint64_t length{};  // octets moved
};

struct Received {  // a receive of queue 0, in the order of delivery
  std::uint64_t cookie{};
  WorkStatus status{};
  std::uint64_t length{};
  bool solicited{};
  std::optional<ddp::Stag> invalidated{};
  std::optional<std::array<std::byte, kImmediateSize>> immediate{};
};

// A Send found no receive: nothing of this stream is looked at until one is posted or Config::no_receive_timeout has
// passed, which ends it. Told when a stall begins, so that a user can see which peers live on this slow path.
struct ReceiveStalled {
  std::uint64_t stream_offset{};  // of the FPDU that waits, as in ErrorReport
};

// --- The stream's life

using rdmap::Layer;

// One error as the Terminate message spells it, with what a log line needs.
struct ErrorReport {
  Layer layer{};
  std::uint8_t type{};
  std::uint8_t code{};
  std::string_view clause{};      // id of the clause that was broken, for instance "DDP-7.1-12"; static storage
  std::string_view sentence{};    // what happened, for people; static storage
  std::uint64_t stream_offset{};  // octet of the inbound stream (counted from the first octet after the start-up frame)
                                  // where the FPDU begins
  std::optional<std::uint8_t> startup_octet{};  // instead, of the start-up frame: where the field lies that is wrong
  std::optional<mpa::Fault> mpa_fault{};        // which of the faults that share a code, where MPA found it here

  [[nodiscard]] constexpr rdmap::ErrorCode error() const noexcept { return {layer, type, code}; }
};

struct ProtocolError {
  ErrorReport report{};
  bool terminate_sent{};
};  // the peer broke the protocol; we are terminating
struct TerminateReceived {
  ErrorReport report{};
  bool known_departure{};
};  // known_departure: fields laid out as Linux siw does
struct StartupFailed {
  ErrorReport report{};
  bool retry_with_revision_1{};
};  // nothing was established (MPA-7.1, RFC 6581 section 9)
// A time-out of Config ends the stream: in order for kIdle, at once for kWindow. An FPDU that is not complete in time is a
// ProtocolError.
struct TimedOut {
  enum class What : std::uint8_t { kIdle, kWindow } what{};
};
struct PeerClosed {};        // FIN at an FPDU boundary: the peer will send nothing more
struct SendQueueDrained {};  // after Engine::drain(true): no work request is in progress
struct Closed {
  bool graceful{};
};  // last event of a stream; the socket can be closed
struct Remark {
  std::string_view sentence{};
  std::uint64_t stream_offset{};
};  // a tolerated departure of the peer, named once per connection; static storage

using Event =
    std::variant<ConnectionRequested, Established, Rejected, SendCompleted, Received, ReceiveStalled, ProtocolError,
                 TerminateReceived, StartupFailed, TimedOut, PeerClosed, SendQueueDrained, Closed, Remark>;

}  // namespace weft::engine
