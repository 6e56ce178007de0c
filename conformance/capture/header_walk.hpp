// SPDX-License-Identifier: Apache-2.0
// From the first octet of a packet to the innermost IP header: link layer, encapsulations, IP.
#pragma once

#include "conformance/capture/ip_packet.hpp"

namespace weft::conformance::capture {

struct InnermostIp {
  std::size_t at{};   // of its header in the captured packet
  IpPacket packet{};  // of TCP, or a fragment of anything
  HeaderPath path{};
};

// `original_size`: of the packet, as sent.
[[nodiscard]] std::expected<InnermostIp, Unread> find_innermost(LinkType link, Bytes captured,
                                                                std::size_t original_size) noexcept;
// The same for the payload of a datagram that was put together: `datagram` is its IP packet, whose protocol is not TCP,
// and `path` how that came.
[[nodiscard]] std::expected<InnermostIp, Unread> find_innermost(const IpPacket& datagram, const HeaderPath& path,
                                                                Bytes payload) noexcept;

}  // namespace weft::conformance::capture
