// SPDX-License-Identifier: Apache-2.0
/// @file
/// The IP headers, RFC 791 and RFC 8200.
///
///     IPv4  0 version, size | 1 service | 2 total length   | 4 identification | 6 flags, offset |
///           8 time to live  | 9 protocol | 10 checksum     | 12 source        | 16 destination  | 20 options
///     IPv6  0 version, class, flow | 4 payload length | 6 next header | 7 hop limit | 8 source | 24 destination | 40
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "packet/address.hpp"
#include "packet/link_layer.hpp"

namespace weft::packet {

/// Describes the header of IPv4 (RFC 791 section 3.1).
struct Ipv4Layout {
  using VersionAndLength = Be<0, std::uint8_t>;  ///< 4, and the size of the header in words of four octets
  using TotalLength = Be<2, std::uint16_t>;
  using Identification = Be<4, std::uint16_t>;
  using FlagsAndOffset = Be<6, std::uint16_t>;
  using TimeToLive = Be<8, std::uint8_t>;
  using Protocol = Be<9, std::uint8_t>;
  using Checksum = Be<10, std::uint16_t>;
  static constexpr std::size_t kSource = 12;
  static constexpr std::size_t kDestination = 16;
  static constexpr std::size_t kAddressSize = 4;
  static constexpr std::size_t kSize = 20;  ///< without options
  static constexpr std::uint16_t kDontFragment = 0x4000;
  static constexpr std::uint16_t kMoreFragments = 0x2000;
  static constexpr std::uint16_t kOffsetMask = 0x1fff;  ///< in units of eight octets

  /// Returns the size of a header with its options as its first octet says: a multiple of 4, at most 60.
  [[nodiscard]] static std::size_t size_of(Bytes header) noexcept {
    return std::size_t{4} * (VersionAndLength::get(header) & 0xfU);
  }
};

/// Describes the header of IPv6 (RFC 8200 section 3).
struct Ipv6Layout {
  using Version = Be<0, std::uint8_t>;  ///< upper half
  using PayloadLength = Be<4, std::uint16_t>;
  using NextHeader = Be<6, std::uint8_t>;
  using HopLimit = Be<7, std::uint8_t>;
  static constexpr std::size_t kSource = 8;
  static constexpr std::size_t kDestination = 24;
  static constexpr std::size_t kAddressSize = 16;
  static constexpr std::size_t kSize = 40;
};

/// Returns the address of version 4 or 6 at the front of `octets`, which must contain it.
[[nodiscard]] Address address(Bytes octets, std::uint8_t version) noexcept;
/// Returns the version in the first octet of an IP header; 0 for no octets.
[[nodiscard]] inline std::uint8_t ip_version(Bytes header) noexcept {
  return header.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(header[0] >> 4);
}

/// Describes a fragment of a datagram.
struct Fragment {
  std::uint32_t id{};      ///< identification of the datagram
  std::uint32_t offset{};  ///< offset of the payload in that of the datagram, in octets
  bool more{};             ///< other fragments follow
};

/// Describes an IP packet whose headers were parsed.
struct IpPacket {
  Address source{};            ///< sender
  Address destination{};       ///< receiver
  std::uint8_t protocol{};     ///< protocol of the payload
  std::size_t payload_at{};    ///< offset in the captured packet, after all headers; perhaps not captured any more
  std::size_t payload_size{};  ///< size as sent
  std::optional<Fragment> fragment{};  ///< absent if the packet is a whole datagram
};

/// Parses the IP header at the cursor, of the version that it has, and the extension headers after it.
/// Whatever the headers claim, a payload ends where the packet does.
[[nodiscard]] std::expected<IpPacket, Unread> parse_ip(const HeaderCursor& cursor) noexcept;

/// Returns whether `protocol` is an extension header of IPv6 that may stand before TCP.
[[nodiscard]] bool is_extension(std::uint8_t protocol) noexcept;

/// Moves the payload of `packet` after the extension headers that it begins with, as that of a datagram that was put
/// together from fragments may (RFC 8200 section 4.5). `payload_at` counts in `captured`.
[[nodiscard]] std::expected<IpPacket, Unread> skip_extensions(IpPacket packet, Bytes captured) noexcept;

}  // namespace weft::packet
