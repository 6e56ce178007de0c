// SPDX-License-Identifier: Apache-2.0
/// @file
/// Events of an engine for its user. The user polls them with Engine::poll_event(); there are no callbacks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/work.hpp"
#include "mpa/agreement.hpp"
#include "mpa/errors.hpp"
#include "rdmap/errors.hpp"

namespace weft::engine {

// --- Startup

/// Responder: a valid MPA Request arrived. Answer with Engine::accept() or Engine::reject().
struct ConnectionRequested {
  std::uint8_t revision{};
  std::optional<std::uint16_t> peer_ird{};  ///< absent with revision 1, and if the peer does not negotiate (0x3FFF)
  std::optional<std::uint16_t> peer_ord{};
  bool peer_to_peer{};
  std::vector<std::byte> private_data{};
};

/// Holds the negotiated parameters, which are in force from this event on.
struct Established {
  std::uint8_t revision{};
  bool enhanced{};
  bool crc{};
  bool markers_in{};
  bool markers_out{};
  std::uint32_t ird{};  ///< maximum of concurrent inbound RDMA Reads and atomics
  std::uint32_t ord{};  ///< maximum of concurrent outbound ones
  std::optional<std::uint16_t> peer_ird{};
  std::optional<std::uint16_t> peer_ord{};
  std::optional<mpa::Rtr> rtr{};          ///< ready-to-receive indication of a peer-to-peer connection
  std::vector<std::byte> private_data{};  ///< initiator: private data of the Reply
};

/// Initiator: the Reply has R set.
struct Rejected {
  std::optional<std::uint16_t> peer_ird{};
  std::optional<std::uint16_t> peer_ord{};
  bool retry_with_revision_1{};  ///< the peer only supports revision 1: a new connection may succeed (MPA2-10-12)
  std::vector<std::byte> private_data{};
  /// The peer supports no ready-to-receive indication, and one was requested (see mpa/agreement.hpp).
  bool takes_no_rtr{};
};

// --- Data

/// A work request of the send queue has completed. Reported in posting order.
struct SendCompleted {
  std::uint64_t cookie{};
  Operation operation{};
  WorkStatus status{};
  std::uint64_t length{};  ///< number of octets moved
};

/// What a message of queue 0 says to its receiver besides the octets in the receive.
struct Delivered {
  /// Octets of the Send; with `immediate`, those of the RDMA Write before it, or 0 if a Send came in between.
  std::uint64_t length{};
  bool solicited{};
  std::optional<std::array<std::byte, kImmediateSize>> immediate{};
  bool combined{};  ///< `immediate` came with the Send: see Engine::combine_immediate()
};

/// A receive of queue 0 has completed. Reported in the order of delivery.
struct Received : Delivered {
  std::uint64_t cookie{};
  WorkStatus status{};
  std::optional<ddp::Stag> invalidated{};
};

/// A Send found no receive. The stream does not process further octets until one is posted, or until
/// Config::no_receive_timeout ends the stream. Reported when a stall begins, so that the user can identify peers that
/// cause stalls.
struct ReceiveStalled {
  std::uint64_t stream_offset{};  ///< offset of the FPDU that waits, as in ErrorReport
};

// --- The stream's life

using rdmap::Layer;

/// Describes one error in the terms of the Terminate message, with the details for a log line.
struct ErrorReport {
  Layer layer{};
  std::uint8_t type{};
  std::uint8_t code{};
  std::string_view clause{};    ///< id of the violated clause, such as "DDP-7.1-12"; static storage
  std::string_view sentence{};  ///< description for people; static storage
  /// Offset of the FPDU in the inbound stream, counted from the first octet after the startup frame.
  std::uint64_t stream_offset{};
  /// Instead, for an error in the startup frame: offset of the wrong field.
  std::optional<std::uint8_t> startup_octet{};
  std::optional<mpa::Fault> mpa_fault{};  ///< cause, for an error that MPA detected here

  [[nodiscard]] constexpr rdmap::ErrorCode error() const noexcept { return {layer, type, code}; }
};

struct ProtocolError {
  ErrorReport report{};
  bool terminate_sent{};
};  // the peer broke the protocol; we are terminating
struct TerminateReceived {
  ErrorReport report{};
  bool known_departure{};     ///< its fields are laid out as Linux siw does
  bool of_completed_write{};  ///< it quotes an RDMA Write whose work request is complete
  bool inside_message{};      ///< a receive holds a part of a message that will not be completed
};
struct StartupFailed {
  ErrorReport report{};
  bool retry_with_revision_1{};
};  // nothing was established (MPA-7.1, RFC 6581 section 9)
/// A timeout of Config ended the stream: in order for kIdle, at once for kWindow. An FPDU that is not complete in time
/// is a ProtocolError.
struct TimedOut {
  enum class What : std::uint8_t { kIdle, kWindow } what{};
};
/// The peer sent its FIN at an FPDU boundary and will send nothing more.
struct PeerClosed {};
/// After Engine::drain(true): no work request is in progress.
struct SendQueueDrained {};
struct Closed {
  bool graceful{};
};  // last event of a stream; the socket can be closed
struct Remark {
  std::string_view sentence{};
  std::uint64_t stream_offset{};
};  // a tolerated deviation of the peer, named once per connection; static storage

using Event =
    std::variant<ConnectionRequested, Established, Rejected, SendCompleted, Received, ReceiveStalled, ProtocolError,
                 TerminateReceived, StartupFailed, TimedOut, PeerClosed, SendQueueDrained, Closed, Remark>;

}  // namespace weft::engine
