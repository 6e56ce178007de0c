// SPDX-License-Identifier: Apache-2.0
/// @file
/// The MPA settings of one end, before it contacts its peer (RFC 5044 section 7.1, RFC 6581).
#pragma once

#include <cstdint>

namespace weft::mpa {

/// Identifies the MPA role of an end.
enum class Role : std::uint8_t { kInitiator, kResponder };

/// Selects ready-to-receive indications of peer-to-peer mode (RFC 6581 section 9).
struct RtrTypes {
  /// Zero-length Send.
  bool send{};
  /// Zero-length RDMA Write.
  bool write{};
  /// Zero-length RDMA Read.
  bool read{};
  /// Returns whether at least one type is selected.
  [[nodiscard]] constexpr bool any() const noexcept { return send || write || read; }
  /// Compares all members.
  bool operator==(const RtrTypes&) const = default;
};

inline constexpr std::uint8_t kHighestRevision = 2;  ///< highest MPA revision that weft supports
/// Value of IRD and ORD that leaves them to the ULP (RFC 6581).
inline constexpr std::uint16_t kNoNegotiation = 0x3FFF;

/// Holds the MPA settings of one end.
struct Policy {
  std::uint8_t revision = 2;  ///< initiator: 1 or 2; responder: highest revision to accept (0 is never accepted)
  bool crc = true;  ///< the C bit; off only at the request of the administrator (MPA-4.4-02, MPA-4.4-04, MPA-4.4-05)
  bool markers = false;  ///< the M bit: requests Markers from the peer
  /// Initiator with revision 2: sends the enhanced data (S bit); a responder follows the initiator.
  bool enhanced = true;
  bool peer_to_peer = false;        ///< the A bit (MPA2-5-02); only for an initiator with `enhanced`
  RtrTypes rtr{false, true, true};  ///< types to offer (initiator) or to accept (responder)
  std::uint16_t ird = 128;          ///< IRD, 0 to 0x3FFE, or kNoNegotiation
  /// ORD, 0 to 0x3FFE, or kNoNegotiation.
  std::uint16_t ord = 128;
};

}  // namespace weft::mpa
