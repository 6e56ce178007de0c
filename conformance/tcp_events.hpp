// SPDX-License-Identifier: Apache-2.0
/// @file
/// Events of one TCP connection in an order in which its ends can have sent: octets follow those that they acknowledge.
///
/// The auditor knows TCP only by these events, so other programs can provide events of their own
/// (connection_audit.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "common/wire.hpp"
#include "conformance/place.hpp"

namespace weft::conformance {

/// Reports a captured segment with octets, including retransmitted, out-of-order and overlapping ones. Its octets
/// follow as TcpOctets once all preceding octets have been seen.
struct TcpSegment {
  End from{};              ///< sender
  std::uint64_t packet{};  ///< packet number
  /// Offset of the first octet; 0 is the first octet after the SYN, or the first one captured.
  std::uint64_t stream_offset{};
  std::uint32_t size{};   ///< octets of payload as sent; more than captured if the packet was truncated
  bool retransmission{};  ///< all octets were seen before
};

/// Delivers octets in sequence, each octet of a direction once. All octets of one event are of one packet.
struct TcpOctets {
  End from{};                     ///< sender
  Bytes octets{};                 ///< octets; valid until the next event
  Place place{};                  ///< place of the first octet; the others follow in the same packet
  std::uint64_t stream_offset{};  ///< offset of the first octet
  /// Number of octets of the other direction that the packet acknowledges. Any upper bound of what had arrived at the
  /// sender serves. Absent if unknown: then the order of the two directions is unknown, and no end is blamed for it.
  std::optional<std::uint64_t> acknowledged{};
};

/// Returns whether octets were certainly sent before the first `end` octets of the other direction had arrived at their
/// sender. `acknowledged` is that of the octets (TcpOctets::acknowledged). This is the only comparison of the two
/// directions that the rules make: the order of the packets in a capture proves nothing, because the directions may
/// have been captured at different places.
[[nodiscard]] constexpr bool sent_without(std::optional<std::uint64_t> acknowledged, std::uint64_t end) noexcept {
  return acknowledged && *acknowledged < end;
}

/// Reports octets that were sent but are not in the capture: lost, truncated by the snap length, or never acknowledged.
struct TcpGap {
  End from{};                     ///< sender
  std::uint64_t stream_offset{};  ///< offset of the first missing octet
  std::uint64_t size{};           ///< number of missing octets
  std::uint64_t packet{};         ///< packet at which the gap became certain
};

/// Identifies how a direction ends.
enum class Closing : std::uint8_t {
  kFin,    ///< FIN, after all octets
  kReset,  ///< reset, immediately
};

/// Reports the end of a direction. No event of it follows. A reset ends both directions (two events).
struct TcpClosed {
  End from{};              ///< sender
  Closing how{};           ///< kind of the end: FIN or reset
  std::uint64_t packet{};  ///< packet number
};

/// Reports the content of the SYNs. Values are absent if the capture begins later.
struct TcpOpened {
  std::optional<std::uint16_t> mss_of_first{};   ///< MSS option of the first end: the largest segment that it accepts
  std::optional<std::uint16_t> mss_of_second{};  ///< MSS option of the second end
  /// The SYN of at least one end was seen: stream offsets count from the beginning of the connection.
  bool handshake_seen{};
  /// End whose SYN was not seen although that of the other end was: octets that it sent with the SYN (RFC 7413) may be
  /// missing.
  std::optional<End> syn_missing{};
};

/// Holds one event of a connection. Its spans are valid until the next event.
using TcpEvent = std::variant<TcpOpened, TcpSegment, TcpOctets, TcpGap, TcpClosed>;

}  // namespace weft::conformance
