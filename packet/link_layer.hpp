// SPDX-License-Identifier: Apache-2.0
/// @file
/// Link layers, and the cursor with which the headers of a packet are parsed. All octets are untrusted: nothing is read
/// that was not captured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "common/wire.hpp"
#include "packet/header_path.hpp"

namespace weft::packet {

/// Identifies the headers before the IP header. The values are those of capture files (tcpdump.org/linktypes).
enum class LinkType : int {
  kUnknown = -1,        ///< headers that weft does not know: the packet counts as one of another protocol
  kNull = 0,            ///< BSD loopback: address family in the byte order of the capturing machine
  kEthernet = 1,        ///< Ethernet, with or without VLAN tags
  kRawIp = 101,         ///< none: IPv4 or IPv6
  kLoop = 108,          ///< OpenBSD loopback: address family in network byte order
  kLinuxCooked = 113,   ///< `tcpdump -i any`: SLL
  kIpv4 = 228,          ///< none: IPv4
  kIpv6 = 229,          ///< none: IPv6
  kLinuxCooked2 = 276,  ///< `tcpdump -i any` since 2018: SLL2
};

/// Describes the header of Ethernet II. The first octet of an address is locally administered in packets that weft
/// composes.
struct EthernetLayout {
  using DestinationFirst = Be<0, std::uint8_t>;
  using DestinationLast = Be<5, std::uint8_t>;
  using SourceFirst = Be<6, std::uint8_t>;
  using SourceLast = Be<11, std::uint8_t>;
  using Type = Be<12, std::uint16_t>;
  static constexpr std::size_t kSize = 14;
  static constexpr std::uint8_t kLocallyAdministered = 0x02;
};

/// Lists the EtherTypes that packet/ reads.
enum EtherType : std::uint16_t {
  kTypeIpv4 = 0x0800,
  kTypeErspan3 = 0x22eb,
  kTypeBridged = 0x6558,  ///< an Ethernet frame
  kTypeVlan = 0x8100,     ///< 802.1Q
  kTypeIpv6 = 0x86dd,
  kTypePpp = 0x880b,
  kTypeMpls = 0x8847,
  kTypeMplsMulticast = 0x8848,
  kTypePppoe = 0x8864,    ///< PPPoE session
  kTypeService = 0x88a8,  ///< 802.1ad
  kTypeErspan2 = 0x88be,
  kTypeQinQ = 0x9100,  ///< before 802.1ad
  kTypeQinQ2 = 0x9200,
};

/// Identifies why a packet is not parsed any further.
enum class Unread : std::uint8_t {
  kNotTcp,     ///< another protocol, or more encapsulations than HeaderPath::kMost
  kMalformed,  ///< a length or version in its headers is invalid, or the snap length truncated them
  kFragment,   ///< its datagram is not complete, or never will be
};

/// Holds the position of a walk over the headers of a packet.
struct HeaderCursor {
  Bytes captured{};        ///< captured octets of the packet
  std::size_t original{};  ///< size of the packet as sent; at least that of `captured`
  std::size_t at{};        ///< offset of the next header; at most the size of `captured`
  HeaderPath path{};       ///< encapsulations before `at`

  /// Returns the captured octets from the next header on.
  [[nodiscard]] Bytes rest() const noexcept { return captured.subspan(at); }
  /// Returns whether at least `size` octets were captured from the next header on.
  [[nodiscard]] bool has(std::size_t size) const noexcept { return captured.size() - at >= size; }
};

/// Identifies the next header.
struct NextHeader {
  /// Identifies what names the header.
  enum What : std::uint8_t {
    kEthernet,    ///< an Ethernet header
    kEtherType,   ///< the header of the EtherType `value`
    kPpp,         ///< the protocol field of PPP
    kIp,          ///< an IP header of the version that it has
    kIpProtocol,  ///< the header of the IP protocol `value`
  };
  What what{};            ///< what names the header
  std::uint16_t value{};  ///< number of kEtherType and kIpProtocol
};
/// Holds the result of a step over one header.
using Stepped = std::expected<NextHeader, Unread>;

/// Steps over the header of the link layer.
[[nodiscard]] Stepped step_link(LinkType link, HeaderCursor& cursor) noexcept;
/// Steps over an Ethernet header, also inside an encapsulation.
[[nodiscard]] Stepped step_ethernet(HeaderCursor& cursor) noexcept;

}  // namespace weft::packet
