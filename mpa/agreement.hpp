// SPDX-License-Identifier: Apache-2.0
// What comes out of an MPA startup: an agreement of both ends, a rejection, or a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/wire.hpp"
#include "mpa/errors.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/policy.hpp"

namespace weft::mpa {

// The ready-to-receive indication that opens a peer-to-peer connection, RFC 6581 section 9.2.
enum class Rtr : std::uint8_t { kSend, kWrite, kRead };

[[nodiscard]] constexpr std::string_view name(std::optional<Rtr> rtr) noexcept {
  if (!rtr) return "none";
  switch (*rtr) {
    case Rtr::kSend: return "send";
    case Rtr::kWrite: return "write";
    case Rtr::kRead: return "read";
  }
  return {};
}

// IRD and ORD values: absent = not negotiated, the local limit holds.
using ReadDepth = std::optional<std::uint16_t>;

struct Agreement {
  std::uint8_t
      revision{};  // of the peer's frame (MPA-7.1.1-22); DDP and RDMAP are version 1 with 1 and 2 alike (MPA-3-14)
  bool enhanced{};
  bool crc{};            // the OR of both C bits, both directions (MPA-7.1.1-11, MPA-4.4-06, MPA-4.4-09)
  bool markers_in{};     // our M bit
  bool markers_out{};    // the peer's M bit (MPA-7.1.1-08)
  ReadDepth ird{};       // our own, effective: inbound Reads that we admit
  ReadDepth ord{};       // our own, effective: outbound Reads that we keep outstanding
  ReadDepth peer_ird{};  // as the peer sent it (MPA2-9.1-07)
  ReadDepth peer_ord{};
  bool peer_to_peer{};
  std::optional<Rtr> rtr{};  // initiator: send this first (MPA2-9.2-12). Responder: absent, the peer chooses
  RtrTypes rtr_common{};     // types named by both ends. Responder: one of these is due as the first FPDU
  Bytes private_data{};      // the peer's; points into the octets given to receive(), copy it before dropping them

  [[nodiscard]] Framing inbound() const noexcept { return {crc, markers_in}; }
  [[nodiscard]] Framing outbound() const noexcept { return {crc, markers_out}; }
};

// Responder: a valid Request, waiting for the ULP's verdict, to whom its private data goes (MPA-7.1-06, MPA-7.1.1-27).
struct RequestReceived {
  std::uint8_t revision{};
  bool markers_wanted{};
  bool crc_wanted{};
  bool enhanced{};
  ReadDepth peer_ird{};
  ReadDepth peer_ord{};
  bool peer_to_peer{};
  RtrTypes rtr_offered{};
  Bytes private_data{};  // points into the octets given to receive()
};

// Initiator: the Reply had R set. MPA is left, TCP stays open and belongs to the ULP (MPA-7.1.2-15).
struct Rejection {
  ReadDepth peer_ird{};  // MPA2-9.1-17
  ReadDepth peer_ord{};
  bool retry_with_revision_1{};  // the Reply has a lower revision than we asked: a new connection with revision 1 may
                                 // work
  bool takes_no_rtr{};  // we asked for peer-to-peer, and the Reply mirrors A and names no ready-to-receive type, so the
                        // responder supports none (MPA2-9.2-11): without peer-to-peer it may accept
  Bytes private_data{};
};

// Nothing was established; close TCP (MPA-8-09, MPA-7.1.2-04, MPA-7.1.2-14, MPA-7.1.2-30, MPA-7.1.3-02) and tell the
// ULP (MPA-8-04, MPA2-10-11).
struct StartupFailure {
  Fault fault{};
  // Initiator, codes 06 and 07 only: the frames were good, so a Terminate can be sent in this framing before closing.
  std::optional<Agreement> terminate_in{};
  // The peer does not speak revision 2: a new connection with revision 1 may work (MPA2-10-12).
  bool retry_with_revision_1{};
};

}  // namespace weft::mpa
