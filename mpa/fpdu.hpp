// SPDX-License-Identifier: Apache-2.0
// The FPDU, RFC 5044 sections 4.1 to 4.4: layout and arithmetic. Sender and receiver share this file and nothing else.
//
//    0                   1                   2                   3
//   +-------------------------------+-------------------------------+
//   |        ULPDU_Length           |                               |
//   +-------------------------------+           ULPDU               ~    MPA-4.1-01
//   ~                                               +---------------+
//   |                                               |  PAD (0-3)    |
//   +-----------------------------------------------+---------------+
//   |                 CRC (least significant octet first)           |
//   +---------------------------------------------------------------+
//
// With Markers, a 4-octet Marker interrupts this at each stream position that is a multiple of 512, counted from the
// first octet behind the sender's own startup frame (MPA-4.3-04, MPA-4.3-11, MPA-4.3-13). A Marker at an FPDU boundary
// belongs to the FPDU behind it (MPA-4.3-08).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire.hpp"

namespace weft::mpa {

// How one direction of a connection is framed; the two directions may differ in Markers.
struct Framing {
  bool crc = true;  // MPA-4.1-06; off: the field is there but means nothing (MPA-4.1-07, MPA-4.4-12, MPA-7.1.1-12)
  bool markers = false;
};

inline constexpr std::size_t kLengthSize = 2;
inline constexpr std::size_t kCrcSize = 4;
inline constexpr std::size_t kMarkerSize = 4;
inline constexpr std::size_t kMarkerPeriod = 512;                       // Markers included (MPA-2-05)
inline constexpr std::size_t kMarkerGap = kMarkerPeriod - kMarkerSize;  // octets between two Markers
inline constexpr std::size_t kMinUlpdu = 1;                             // MPA-3-06: what a sender may frame
inline constexpr std::size_t kMaxUlpdu = 64768;                         // MPA-3-05
inline constexpr std::size_t kMaxUlpduLength = 65535;                   // what the field of a hostile peer can say

using UlpduLength = Be<0, std::uint16_t>;  // MPA-4.1-02
using CrcField = Le<0, std::uint32_t>;     // MPA-4.4-13
static_assert(CrcField::end == kCrcSize);

// The Marker, RFC 5044 section 4.2 (MPA-4.2-01):  | reserved 2 | FPDUPTR 2 |
struct MarkerLayout {
  using Reserved = Be<0, std::uint16_t>;
  using FpduPtr = Be<2, std::uint16_t>;
  static constexpr std::uint16_t kPtrMask = 0xfffc;  // MPA-4.2-05, MPA-4.2-06
};
static_assert(MarkerLayout::FpduPtr::end == kMarkerSize);

// MPA-4.1-05: length field, ULPDU and PAD together are a multiple of four octets.
[[nodiscard]] constexpr std::size_t pad_size(std::size_t ulpdu) noexcept { return (2 - ulpdu) & 3; }

// Octets of an FPDU that are no Marker.
[[nodiscard]] constexpr std::size_t bare_fpdu_size(std::size_t ulpdu) noexcept {
  return kLengthSize + ulpdu + pad_size(ulpdu) + kCrcSize;
}

// Octets from stream position `position` to the next Marker; 0 when a Marker stands there.
[[nodiscard]] constexpr std::size_t octets_to_marker(std::uint64_t position) noexcept {
  return static_cast<std::size_t>((kMarkerPeriod - position % kMarkerPeriod) % kMarkerPeriod);
}

// Markers inside an FPDU of `bare` octets that begins at `position`. A Marker right behind its end belongs to the next
// one.
[[nodiscard]] constexpr std::size_t marker_count(std::uint64_t position, std::size_t bare) noexcept {
  const std::size_t first = octets_to_marker(position);
  return bare <= first ? 0 : 1 + (bare - first - 1) / kMarkerGap;
}

// MPA-4.1-09. `position` counts octets of the sender's FPDU stream before this FPDU.
[[nodiscard]] constexpr std::size_t fpdu_size(const Framing& framing, std::uint64_t position,
                                              std::size_t ulpdu) noexcept {
  const std::size_t bare = bare_fpdu_size(ulpdu);
  return bare + (framing.markers ? kMarkerSize * marker_count(position, bare) : 0);
}

// The largest FPDU that a length field can announce: no receiver ever waits for more.
inline constexpr std::size_t kMaxFpduSize = fpdu_size({.crc = true, .markers = true}, 0, kMaxUlpduLength);

}  // namespace weft::mpa
