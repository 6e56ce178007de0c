// SPDX-License-Identifier: Apache-2.0
// Headers between the link layer and the innermost IP header: VLAN tags, MPLS, PPPoE, GRE with what it carries (NVGRE,
// ERSPAN, PPTP), VXLAN and Geneve.
#pragma once

#include "conformance/capture/link_layer.hpp"

namespace weft::conformance::capture {

// IP protocol numbers that lead to another header here.
enum IpProtocol : std::uint8_t {
  kIpv4InIp = 4,
  kTcp = 6,
  kUdp = 17,
  kIpv6InIp = 41,
  kGre = 47,
  kEtherIp = 97,
  kMplsInIp = 137,
};

// Whether a datagram of this protocol may have a TCP segment in it.
[[nodiscard]] bool leads_to_tcp(std::uint8_t protocol) noexcept;

// Steps over the header that an EtherType announces.
[[nodiscard]] Stepped step_ether_type(std::uint16_t type, HeaderCursor& cursor) noexcept;
// Steps over PPP's protocol field.
[[nodiscard]] Stepped step_ppp(HeaderCursor& cursor) noexcept;
// Steps over the header that a protocol number of IP announces. kTcp has none.
[[nodiscard]] Stepped step_protocol(std::uint8_t protocol, HeaderCursor& cursor) noexcept;

}  // namespace weft::conformance::capture
