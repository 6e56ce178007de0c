// SPDX-License-Identifier: Apache-2.0
/// @file
/// Captured packets, including the link-layer header.
#pragma once

#include <cstdint>

#include "common/wire.hpp"
#include "packet/link_layer.hpp"

namespace weft::conformance {

/// Identifies the headers before the IP header: Ethernet, Linux cooked capture, loopback or none
/// (packet/link_layer.hpp).
using packet::LinkType;

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
