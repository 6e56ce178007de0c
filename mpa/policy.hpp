// SPDX-License-Identifier: Apache-2.0
// What one end wants of an MPA connection, before it meets its peer (RFC 5044 section 7.1, RFC 6581).
#pragma once

#include <cstdint>

namespace weft::mpa {

enum class Role : std::uint8_t { kInitiator, kResponder };

// Ready-to-receive indications of peer-to-peer mode, RFC 6581 section 9.
struct RtrTypes {
  bool send{};
  bool write{};
  bool read{};
  [[nodiscard]] constexpr bool any() const noexcept { return send || write || read; }
  bool operator==(const RtrTypes&) const = default;
};

inline constexpr std::uint8_t kHighestRevision = 2;      // of MPA, that we speak
inline constexpr std::uint16_t kNoNegotiation = 0x3FFF;  // IRD or ORD is left to the ULP (RFC 6581)

struct Policy {
  std::uint8_t revision = 2;  // initiator: 1 or 2. Responder: highest that it accepts (0 is never accepted)
  bool crc = true;            // the C bit. Off only at the administrator's request (MPA-4.4-02, MPA-4.4-04, MPA-4.4-05)
  bool markers = false;       // the M bit: we want Markers in what we receive
  bool enhanced = true;       // initiator with revision 2: send the enhanced data (S bit). A responder answers in kind
  bool peer_to_peer = false;  // the A bit (MPA2-5-02); an initiator with `enhanced` only
  RtrTypes rtr{false, true, true};  // offered (initiator) or acceptable (responder)
  std::uint16_t ird = 128;          // 0..0x3FFE, or kNoNegotiation
  std::uint16_t ord = 128;
};

}  // namespace weft::mpa
