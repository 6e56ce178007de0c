// SPDX-License-Identifier: Apache-2.0
/// @file
/// The results of an MPA startup: an agreement of both ends, a rejection, or a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/wire.hpp"
#include "mpa/errors.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/policy.hpp"

namespace weft::mpa {

/// Identifies the ready-to-receive indication that opens a peer-to-peer connection (RFC 6581 section 9.2).
enum class Rtr : std::uint8_t { kSend, kWrite, kRead };

/// Returns "send", "write", "read" or "none"; static storage.
[[nodiscard]] constexpr std::string_view name(std::optional<Rtr> rtr) noexcept {
  if (!rtr) return "none";
  switch (*rtr) {
    case Rtr::kSend: return "send";
    case Rtr::kWrite: return "write";
    case Rtr::kRead: return "read";
  }
  return {};
}

/// Returns whether a type is selected.
[[nodiscard]] constexpr bool includes(const RtrTypes& types, Rtr rtr) noexcept {
  switch (rtr) {
    case Rtr::kSend: return types.send;
    case Rtr::kWrite: return types.write;
    case Rtr::kRead: return types.read;
  }
  return false;
}

/// Holds an IRD or ORD. Absent if it is not negotiated; the local limit then applies.
using ReadDepth = std::optional<std::uint16_t>;

/// Holds what both ends agreed on.
struct Agreement {
  /// Revision of the peer's frame (MPA-7.1.1-22); DDP and RDMAP have version 1 with both revisions (MPA-3-14).
  std::uint8_t revision{};
  bool enhanced{};
  bool crc{};            ///< CRCs in both directions: the OR of both C bits (MPA-7.1.1-11, MPA-4.4-06, MPA-4.4-09)
  bool markers_in{};     ///< Markers in received FPDUs: the local M bit
  bool markers_out{};    ///< Markers in sent FPDUs: the peer's M bit (MPA-7.1.1-08)
  ReadDepth ird{};       ///< effective local IRD: inbound Reads that this end admits
  ReadDepth ord{};       ///< effective local ORD: outbound Reads that this end keeps outstanding
  ReadDepth peer_ird{};  ///< IRD as the peer sent it (MPA2-9.1-07)
  /// ORD as the peer sent it.
  ReadDepth peer_ord{};
  bool peer_to_peer{};
  /// Initiator: the indication to send first (MPA2-9.2-12); responder: absent, because the peer chooses.
  std::optional<Rtr> rtr{};
  RtrTypes rtr_common{};  ///< types that both ends support; a responder expects one of them as the first FPDU
  /// Private data of the peer; refers to the octets given to receive(): copy it before releasing them.
  Bytes private_data{};

  /// Returns the framing of received FPDUs.
  [[nodiscard]] Framing inbound() const noexcept { return {crc, markers_in}; }
  /// Returns the framing of sent FPDUs.
  [[nodiscard]] Framing outbound() const noexcept { return {crc, markers_out}; }
};

/// Describes a valid Request that waits for the decision of the ULP, which receives its private data (MPA-7.1-06,
/// MPA-7.1.1-27).
struct RequestReceived {
  std::uint8_t revision{};
  bool markers_wanted{};
  bool crc_wanted{};
  bool enhanced{};
  ReadDepth peer_ird{};
  ReadDepth peer_ord{};
  bool peer_to_peer{};
  RtrTypes rtr_offered{};
  Bytes private_data{};  ///< private data; refers to the octets given to receive()
};

/// Describes a Reply with the R bit. MPA ends; the TCP connection remains open and belongs to the ULP (MPA-7.1.2-15).
struct Rejection {
  ReadDepth peer_ird{};  ///< IRD of the peer (MPA2-9.1-17)
  ReadDepth peer_ord{};
  /// The Reply has a lower revision than requested: a new connection with revision 1 may succeed.
  bool retry_with_revision_1{};
  /// Peer-to-peer mode was requested; the Reply mirrors A and names no type, so the responder supports none
  /// (MPA2-9.2-11) and may accept without peer-to-peer mode.
  bool takes_no_rtr{};
  Bytes private_data{};
};

/// Describes a failed startup. Close TCP (MPA-8-09, MPA-7.1.2-04, MPA-7.1.2-14, MPA-7.1.2-30, MPA-7.1.3-02) and notify
/// the ULP (MPA-8-04, MPA2-10-11).
struct StartupFailure {
  Fault fault{};
  /// Initiator, codes 06 and 07 only: framing in which to send a Terminate before closing, because the frames were
  /// valid.
  std::optional<Agreement> terminate_in{};
  /// The peer does not support revision 2: a new connection with revision 1 may succeed (MPA2-10-12).
  bool retry_with_revision_1{};
};

}  // namespace weft::mpa
