// SPDX-License-Identifier: Apache-2.0
// What the TCP layer tells of one connection, in the order of the capture. Everything above knows TCP by these alone,
// so others can feed connections of their own (connection_audit.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "common/wire.hpp"
#include "conformance/place.hpp"

namespace weft::conformance {

// A segment that carries octets, as it was captured: also retransmitted, out of order or overlapping. Its octets follow
// as TcpOctets when all before them have been seen.
struct TcpSegment {
  End from{};                     // who sent it
  std::uint64_t packet{};         // its number
  std::uint64_t stream_offset{};  // of its first octet; 0 is the first octet after the SYN (or the first one captured)
  std::uint32_t size{};           // octets of payload as sent; more than were captured when the packet was cut
  bool retransmission{};          // all of it was seen before
};

// Octets in sequence, each octet of a direction once. One call never mixes packets.
struct TcpOctets {
  End from{};                     // who sent them
  Bytes octets{};                 // valid until the next event
  Place place{};                  // of the first; the others follow in the same packet
  std::uint64_t stream_offset{};  // of the first
};

// Octets that were sent and that the capture does not hold: lost, cut off by the snap length, or never acknowledged.
struct TcpGap {
  End from{};                     // who sent them
  std::uint64_t stream_offset{};  // of the first that is missing
  std::uint64_t size{};           // octets
  std::uint64_t packet{};         // at which it was certain
};

// How a direction ends.
enum class Closing : std::uint8_t {
  kFin,    // after all octets
  kReset,  // at once
};

struct TcpClosed {         // a direction ended: nothing of it follows. A reset ends both (two events)
  End from{};              // who sent it
  Closing how{};           // by a FIN or a reset
  std::uint64_t packet{};  // its number
};

// What the SYNs of both ends said. Absent when the capture begins later.
struct TcpOpened {
  std::optional<std::uint16_t> mss_of_first{};   // MSS options: the largest segment that this end wants to receive
  std::optional<std::uint16_t> mss_of_second{};  // the same of the other end
  bool handshake_seen{};  // SYN of at least one end: stream offsets count from the beginning of the connection
};

// One event of a connection. Spans in it are valid until the next.
using TcpEvent = std::variant<TcpOpened, TcpSegment, TcpOctets, TcpGap, TcpClosed>;

}  // namespace weft::conformance
