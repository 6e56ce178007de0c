// SPDX-License-Identifier: Apache-2.0
/// @file
/// The UDP header, RFC 768.
///
///     0 source port | 2 destination port | 4 length, header included | 6 checksum | 8
#pragma once

#include <cstdint>
#include <expected>

#include "packet/link_layer.hpp"

namespace weft::packet {

/// Describes the header of UDP.
struct UdpLayout {
  using SourcePort = Be<0, std::uint16_t>;
  using DestinationPort = Be<2, std::uint16_t>;
  using Length = Be<4, std::uint16_t>;  ///< of header and payload
  using Checksum = Be<6, std::uint16_t>;
  static constexpr std::size_t kSize = 8;
};

/// Holds the fields of a UDP header.
struct UdpHeader {
  std::uint16_t source_port{};       ///< port of the sender
  std::uint16_t destination_port{};  ///< port of the receiver
  std::size_t payload_size{};        ///< octets after the header, as sent
};

/// Parses a UDP header. `octets` were captured of the datagram, and the IP packet has `original_size` octets for it.
/// Octets after the length that the header claims are padding. A datagram is malformed if it claims more than there
/// are.
[[nodiscard]] std::expected<UdpHeader, Unread> parse_udp(Bytes octets, std::size_t original_size) noexcept;

/// Writes a header to the front of `out`, which contains UdpLayout::kSize octets or more. The checksum is zero. The
/// payload must fit the length field: 65527 octets.
void serialize(const UdpHeader& header, MutableBytes out) noexcept;

}  // namespace weft::packet
