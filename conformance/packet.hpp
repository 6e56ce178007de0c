// SPDX-License-Identifier: Apache-2.0
// A packet of a capture, as it was captured: link-layer header and all.
#pragma once

#include <cstdint>

#include "common/wire.hpp"

namespace weft::conformance {

// What stands in front of the IP header.
enum class LinkType : std::uint8_t {
  kEthernet,      // with VLAN tags or without
  kLinuxCooked,   // `tcpdump -i any`: SLL
  kLinuxCooked2,  // the same since 2018: SLL2
  kNull,          // BSD loopback: address family in the byte order of the machine that captured
  kLoop,          // OpenBSD loopback: the same in network byte order
  kRawIp,         // nothing: IPv4 or IPv6
  kIpv4,          // nothing: IPv4
  kIpv6,          // nothing: IPv6
};

// One packet.
struct Packet {
  std::uint64_t number{};         // as Wireshark numbers frames: from 1, every packet of the file counts
  std::int64_t time{};            // nanoseconds since 1970
  LinkType link{};                // how `captured` begins
  Bytes captured{};               // what was kept of it
  std::uint32_t original_size{};  // what it was on the wire; more than `captured` when the snap length cut it
};

}  // namespace weft::conformance
