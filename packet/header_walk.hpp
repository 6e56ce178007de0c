// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the first octet of a packet to the innermost IP header: link layer, encapsulations, IP.
#pragma once

#include "packet/ip.hpp"

namespace weft::packet {

/// Describes the innermost IP packet of a captured packet.
struct InnermostIp {
  std::size_t at{};   ///< offset of its header in the captured packet
  IpPacket packet{};  ///< packet of TCP, or a fragment of any protocol
  HeaderPath path{};  ///< encapsulations around it
};

/// Finds the innermost IP packet. `original_size` is the size of the packet as sent.
[[nodiscard]] std::expected<InnermostIp, Unread> find_innermost(LinkType link, Bytes captured,
                                                                std::size_t original_size) noexcept;
/// Finds the innermost IP packet of UDP, or a fragment of any protocol. Errors: a packet with TCP inside is kNotTcp,
/// too.
[[nodiscard]] std::expected<InnermostIp, Unread> find_innermost_udp(LinkType link, Bytes captured,
                                                                    std::size_t original_size) noexcept;
/// Finds the innermost IP packet in the payload of a reassembled datagram. `datagram` is its IP packet, whose protocol
/// is not TCP, and `path` has the encapsulations around that.
[[nodiscard]] std::expected<InnermostIp, Unread> find_innermost(const IpPacket& datagram, const HeaderPath& path,
                                                                Bytes payload) noexcept;

}  // namespace weft::packet
