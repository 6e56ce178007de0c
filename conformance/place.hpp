// SPDX-License-Identifier: Apache-2.0
// Where an octet of a TCP stream lies in the capture, and which of the two directions carried it.
#pragma once

#include <cstdint>

#include "engine/direction.hpp"

namespace weft::conformance {

using engine::Direction;

// One of the two ends of a TCP connection. It is used before it is known which is the MPA Initiator: that is told by
// the key, not by the SYN (MPA-2-03).
enum class End : std::uint8_t {
  kFirst,   // it sent the first packet
  kSecond,  // the other one
};
// The other end.
[[nodiscard]] constexpr End opposite(End end) noexcept { return end == End::kFirst ? End::kSecond : End::kFirst; }

// An octet of the capture file. Packets are numbered as Wireshark numbers frames: from 1, in the order of the file.
struct Place {
  std::uint64_t packet{};  // Wireshark's frame number
  std::uint32_t octet{};   // counted from 0 within the captured packet, link-layer header included
  bool operator==(const Place&) const = default;
};

}  // namespace weft::conformance
