// SPDX-License-Identifier: Apache-2.0
/// @file
/// Headers between the link layer and the innermost IP header: VLAN tags, MPLS, PPPoE, GRE with what it carries (NVGRE,
/// ERSPAN, PPTP), VXLAN and Geneve. The tables are also those of the filter of a live capture.
#pragma once

#include <array>

#include "packet/link_layer.hpp"

namespace weft::packet {

/// Lists the IP protocol numbers that lead to a TCP segment.
enum IpProtocol : std::uint8_t {
  kIpv4InIp = 4,
  kTcp = 6,
  kUdp = 17,
  kIpv6InIp = 41,
  kGre = 47,
  kEtherIp = 97,
  kMplsInIp = 137,
};
/// Lists the UDP ports of encapsulations.
enum UdpPort : std::uint16_t {
  kGreInUdp = 4754,  ///< RFC 8086
  kVxlan = 4789,
  kVxlanGpe = 4790,
  kGeneve = 6081,
  kMplsInUdp = 6635,     ///< RFC 7510
  kVxlanOfLinux = 8472,  ///< default of Linux before the number was assigned
};

/// IP protocols of encapsulations, besides kUdp.
inline constexpr std::array kTunnels{kIpv4InIp, kIpv6InIp, kGre, kEtherIp, kMplsInIp};
/// UDP ports of encapsulations.
inline constexpr std::array<std::uint16_t, 6> kTunnelPorts{kVxlan,  kVxlanGpe,  kVxlanOfLinux,
                                                           kGeneve, kMplsInUdp, kGreInUdp};
/// EtherTypes of encapsulations, besides VLAN tags.
inline constexpr std::array kTunnelTypes{kTypeMpls, kTypeMplsMulticast, kTypePppoe};

/// Returns whether a datagram of this protocol may contain a TCP segment.
[[nodiscard]] bool leads_to_tcp(std::uint8_t protocol) noexcept;

/// Steps over the header of an EtherType.
[[nodiscard]] Stepped step_ether_type(std::uint16_t type, HeaderCursor& cursor) noexcept;
/// Steps over the protocol field of PPP.
[[nodiscard]] Stepped step_ppp(HeaderCursor& cursor) noexcept;
/// Steps over the header of an IP protocol. kTcp has none.
[[nodiscard]] Stepped step_protocol(std::uint8_t protocol, HeaderCursor& cursor) noexcept;

}  // namespace weft::packet
