// SPDX-License-Identifier: Apache-2.0
/// @file
/// Captured packets, including the link-layer header.
#pragma once

#include <cstdint>

#include "common/wire.hpp"

namespace weft::conformance {

/// Identifies the headers before the IP header.
enum class LinkType : std::uint8_t {
  kEthernet,      ///< Ethernet, with or without VLAN tags
  kLinuxCooked,   ///< `tcpdump -i any`: SLL
  kLinuxCooked2,  ///< `tcpdump -i any` since 2018: SLL2
  kNull,          ///< BSD loopback: address family in the byte order of the capturing machine
  kLoop,          ///< OpenBSD loopback: address family in network byte order
  kRawIp,         ///< none: IPv4 or IPv6
  kIpv4,          ///< none: IPv4
  kIpv6,          ///< none: IPv6
  kUnknown,       ///< headers that weft does not know: the packet counts as one of another protocol
};

/// Describes one packet.
struct Packet {
  std::uint64_t number{};  ///< frame number as in Wireshark: from 1, counting every packet of the file
  std::int64_t time{};     ///< time in nanoseconds since 1970
  LinkType link{};         ///< headers at the beginning of `captured`
  Bytes captured{};        ///< captured octets
  /// Size on the wire in octets; larger than `captured` if the snap length truncated the packet
  std::uint32_t original_size{};
};

}  // namespace weft::conformance
