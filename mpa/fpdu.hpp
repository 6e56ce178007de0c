// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layout and arithmetic of the FPDU (RFC 5044 sections 4.1 to 4.4). Sender and receiver share only this file.
///
///      0                   1                   2                   3
///     +-------------------------------+-------------------------------+
///     |        ULPDU_Length           |                               |
///     +-------------------------------+           ULPDU               ~    MPA-4.1-01
///     ~                                               +---------------+
///     |                                               |  PAD (0-3)    |
///     +-----------------------------------------------+---------------+
///     |                 CRC (least significant octet first)           |
///     +---------------------------------------------------------------+
///
/// With Markers, a 4-octet Marker interrupts the FPDU at each stream position that is a multiple of 512, counted from
/// the first octet after the sender's startup frame (MPA-4.3-04, MPA-4.3-11, MPA-4.3-13). A Marker at an FPDU boundary
/// belongs to the FPDU that follows it (MPA-4.3-08).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire.hpp"

namespace weft::mpa {

/// Describes the framing of one direction of a connection. The directions may differ in Markers.
struct Framing {
  /// FPDUs have valid CRCs (MPA-4.1-06); if false, the field has no meaning (MPA-4.1-07, MPA-4.4-12, MPA-7.1.1-12).
  bool crc = true;
  /// FPDUs contain Markers.
  bool markers = false;
};

/// Size of the length field in octets.
inline constexpr std::size_t kLengthSize = 2;
/// Size of the CRC field in octets.
inline constexpr std::size_t kCrcSize = 4;
/// Size of a Marker in octets.
inline constexpr std::size_t kMarkerSize = 4;
/// Distance between Markers in octets, including one Marker (MPA-2-05).
inline constexpr std::size_t kMarkerPeriod = 512;
inline constexpr std::size_t kMarkerGap = kMarkerPeriod - kMarkerSize;  ///< octets between two Markers
inline constexpr std::size_t kMinUlpdu = 1;            ///< least ULPDU that a sender may frame (MPA-3-06)
inline constexpr std::size_t kMaxUlpdu = 64768;        ///< largest ULPDU that a sender may frame (MPA-3-05)
inline constexpr std::size_t kMaxUlpduLength = 65535;  ///< largest value of the length field of an untrusted peer

/// The length field (MPA-4.1-02).
using UlpduLength = Be<0, std::uint16_t>;
/// The CRC field (MPA-4.4-13).
using CrcField = Le<0, std::uint32_t>;
static_assert(CrcField::end == kCrcSize);

/// Describes the Marker (RFC 5044 section 4.2, MPA-4.2-01): | reserved 2 | FPDUPTR 2 |
struct MarkerLayout {
  using Reserved = Be<0, std::uint16_t>;
  using FpduPtr = Be<2, std::uint16_t>;
  static constexpr std::uint16_t kPtrMask = 0xfffc;  ///< valid bits of FPDUPTR (MPA-4.2-05, MPA-4.2-06)
};
static_assert(MarkerLayout::FpduPtr::end == kMarkerSize);

/// Returns the size of the PAD: length field, ULPDU and PAD together are a multiple of four octets (MPA-4.1-05).
[[nodiscard]] constexpr std::size_t pad_size(std::size_t ulpdu) noexcept { return (2 - ulpdu) & 3; }

/// Returns the size of an FPDU without Markers.
[[nodiscard]] constexpr std::size_t bare_fpdu_size(std::size_t ulpdu) noexcept {
  return kLengthSize + ulpdu + pad_size(ulpdu) + kCrcSize;
}

/// Returns the number of octets from a stream position to the next Marker; 0 if a Marker is there.
[[nodiscard]] constexpr std::size_t octets_to_marker(std::uint64_t position) noexcept {
  return static_cast<std::size_t>((kMarkerPeriod - position % kMarkerPeriod) % kMarkerPeriod);
}

/// Returns the number of Markers in an FPDU of `bare` octets that begins at `position`. A Marker directly after its end
/// belongs to the next FPDU.
[[nodiscard]] constexpr std::size_t marker_count(std::uint64_t position, std::size_t bare) noexcept {
  const std::size_t first = octets_to_marker(position);
  return bare <= first ? 0 : 1 + (bare - first - 1) / kMarkerGap;
}

/// Returns the size of an FPDU including Markers (MPA-4.1-09). `position` is the number of octets of the sender's FPDU
/// stream before it.
[[nodiscard]] constexpr std::size_t fpdu_size(const Framing& framing, std::uint64_t position,
                                              std::size_t ulpdu) noexcept {
  const std::size_t bare = bare_fpdu_size(ulpdu);
  return bare + (framing.markers ? kMarkerSize * marker_count(position, bare) : 0);
}

/// Largest FPDU that a length field can announce. A receiver never waits for more.
inline constexpr std::size_t kMaxFpduSize = fpdu_size({.crc = true, .markers = true}, 0, kMaxUlpduLength);

}  // namespace weft::mpa
