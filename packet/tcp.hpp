// SPDX-License-Identifier: Apache-2.0
/// @file
/// The TCP header, RFC 9293 section 3.1.
///
///     0 source port | 2 destination port | 4 sequence | 8 acknowledgement | 12 size | 13 flags | 14 window |
///     16 checksum | 18 | 20 options
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "packet/link_layer.hpp"

namespace weft::packet {

/// Describes the header of TCP.
struct TcpLayout {
  using SourcePort = Be<0, std::uint16_t>;
  using DestinationPort = Be<2, std::uint16_t>;
  using Sequence = Be<4, std::uint32_t>;
  using Acknowledgement = Be<8, std::uint32_t>;
  using DataOffset = Be<12, std::uint8_t>;  ///< upper half: size of the header in words of four octets
  using Flags = Be<13, std::uint8_t>;
  using Window = Be<14, std::uint16_t>;
  using Checksum = Be<16, std::uint16_t>;
  static constexpr std::size_t kSize = 20;  ///< without options
};

/// Flags of the TCP header.
namespace tcp_flag {
inline constexpr std::uint8_t kFin = 0x01;
inline constexpr std::uint8_t kSyn = 0x02;
inline constexpr std::uint8_t kRst = 0x04;
inline constexpr std::uint8_t kPsh = 0x08;
inline constexpr std::uint8_t kAck = 0x10;
}  // namespace tcp_flag

/// Kinds of TCP options (RFC 9293 section 3.2, RFC 7323 section 2.2), and the size of those with a fixed one.
namespace tcp_option {
inline constexpr std::uint8_t kEnd = 0;
inline constexpr std::uint8_t kNoOperation = 1;
inline constexpr std::uint8_t kMss = 2;
inline constexpr std::size_t kMssSize = 4;
inline constexpr std::uint8_t kWindowScale = 3;
inline constexpr std::size_t kWindowScaleSize = 3;
}  // namespace tcp_option

/// Holds the fields of a TCP header.
struct TcpHeader {
  std::uint16_t source_port{};         ///< port of the sender
  std::uint16_t destination_port{};    ///< port of the receiver
  std::uint32_t sequence{};            ///< sequence number of the first octet, or of the SYN
  std::uint32_t acknowledgement{};     ///< meaningless without `ack`
  bool syn{}, ack{}, fin{}, rst{};     ///< flags
  std::size_t size{};                  ///< size in octets with options
  std::optional<std::uint16_t> mss{};  ///< maximum segment size of a SYN
};

/// Parses a TCP header. `octets` were captured of the segment, whose size was `original_size`. Only the options may be
/// truncated.
[[nodiscard]] std::expected<TcpHeader, Unread> parse_tcp(Bytes octets, std::size_t original_size) noexcept;

}  // namespace weft::packet
