// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places of octets in a capture, and directions of a TCP connection.
#pragma once

#include <cstdint>

#include "engine/direction.hpp"

namespace weft::conformance {

/// Identifies the direction of octets by the MPA role of their sender.
using engine::Direction;

/// Identifies an end of a TCP connection before its MPA role is known. The key of the startup frame determines the
/// role, not the SYN (MPA-2-03).
enum class End : std::uint8_t {
  kFirst,   ///< the end that sent the first packet
  kSecond,  ///< the other end
};
/// Returns the other end.
[[nodiscard]] constexpr End opposite(End end) noexcept { return end == End::kFirst ? End::kSecond : End::kFirst; }

/// Identifies an octet of the capture file. Packets are numbered as in Wireshark: from 1, in the order of the file.
struct Place {
  std::uint64_t packet{};  ///< frame number as in Wireshark
  std::uint32_t octet{};   ///< offset in the captured packet from 0, including the link-layer header
  /// Compares both members.
  bool operator==(const Place&) const = default;
};

}  // namespace weft::conformance
