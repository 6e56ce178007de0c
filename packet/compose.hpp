// SPDX-License-Identifier: Apache-2.0
/// @file
/// One TCP segment or UDP datagram as an Ethernet frame, checksums included.
///
///   | Ethernet II, 14 octets | IPv4, 20 (RFC 791) or IPv6, 40 (RFC 8200) | TCP, 20 + options (RFC 9293) | payload |
///                                                                        | UDP, 8 (RFC 768)             |
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/wire.hpp"
#include "packet/address.hpp"

namespace weft::packet {

/// Describes a TCP segment without its payload.
struct Segment {
  const Endpoint& source;              ///< sender; must outlive the segment
  const Endpoint& destination;         ///< receiver, of the same IP version; must outlive the segment
  std::uint32_t sequence{};            ///< sequence number
  std::uint32_t acknowledgement{};     ///< acknowledgment number
  std::uint8_t flags{};                ///< tcp_flag
  std::uint16_t window{};              ///< window, before scaling
  Bytes options{};                     ///< TCP options, a multiple of four octets; must outlive the segment
  std::uint8_t source_station{};       ///< last octet of the sender's Ethernet address, which is 02:00:00:00:00:xx
  std::uint8_t destination_station{};  ///< last octet of the receiver's Ethernet address
};

/// Describes a UDP datagram without its payload.
struct Datagram {
  const Endpoint& source;              ///< sender; must outlive the datagram
  const Endpoint& destination;         ///< receiver, of the same IP version; must outlive the datagram
  std::uint8_t source_station{};       ///< last octet of the sender's Ethernet address, as in a segment
  std::uint8_t destination_station{};  ///< last octet of the receiver's Ethernet address
};

/// Takes octets from the front of a list of pieces. The list and the pieces must outlive the reader.
class PieceReader {
 public:
  /// Starts at the first piece.
  explicit PieceReader(std::span<const Bytes> pieces) noexcept : pieces_(pieces) {}
  /// Returns the number of octets that were not taken.
  [[nodiscard]] std::size_t left() const noexcept;
  /// Copies the next octets into `into`, which must not be larger than left().
  void take(MutableBytes into) noexcept;

 private:
  std::span<const Bytes> pieces_;
  std::size_t taken_of_first_ = 0;
};

/// Composes a frame from a segment and the next `payload_octets` of `payload`. The sum of both must fit an IP packet:
/// at most 65495 octets of payload without options. Overwrites `frame` and keeps its storage.
void compose(std::vector<std::byte>& frame, const Segment& segment, PieceReader& payload, std::size_t payload_octets);
/// Composes a frame from a datagram and the next `payload_octets` of `payload`, at most 65507 octets. Overwrites
/// `frame` and keeps its storage.
void compose(std::vector<std::byte>& frame, const Datagram& datagram, PieceReader& payload, std::size_t payload_octets);

}  // namespace weft::packet
