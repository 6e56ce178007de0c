// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reading of one FPDU at the front of octets, under a framing that is known or tried: its end, its CRC, the
/// plausibility of its header, and its parts including Markers. mpa/fpdu.hpp has the arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/seen.hpp"
#include "mpa/fpdu.hpp"

namespace weft::conformance {

/// Describes a position in the FPDU stream and the framing there. Without Markers, the position is irrelevant.
struct Track {
  mpa::Framing framing{};    ///< whether FPDUs have CRCs and Markers
  std::uint64_t position{};  ///< octets since the end of the sender's startup frame
  /// Returns the same framing, `octets` octets later.
  [[nodiscard]] Track behind(std::size_t octets) const noexcept { return {framing, position + octets}; }
  /// Returns the same position with Markers if this has none, and without them if this has them.
  [[nodiscard]] Track contrary() const noexcept {
    return {{.crc = framing.crc, .markers = !framing.markers}, position};
  }
};

/// Describes the size of an FPDU according to its length field.
struct Extent {
  std::size_t header{};  ///< octets before the length field: a leading Marker, or 0
  std::size_t ulpdu{};   ///< value of ULPDU_Length
  std::size_t size{};    ///< size of the FPDU in octets, including Markers
};

/// Returns the size of the FPDU; nothing if the length field is incomplete.
[[nodiscard]] std::optional<Extent> extent(Bytes octets, const Track& track) noexcept;

/// Returns the CRC field of a complete FPDU: its last four octets.
[[nodiscard]] std::uint32_t crc_field(Bytes fpdu) noexcept;
/// Returns the CRC of a complete FPDU, computed over the octets before its CRC field.
[[nodiscard]] std::uint32_t computed_crc(Bytes fpdu) noexcept;

/// Returns whether version, reserved bits and opcode look like a DDP header (plausible.hpp).
/// Returns nothing if the octets are not sufficient.
[[nodiscard]] std::optional<bool> plausible(Bytes octets, const Extent& extent, const Track& track) noexcept;

/// Returns whether the CRC or, without CRCs, the header and the PAD show that a complete FPDU is one.
[[nodiscard]] bool convincing(Bytes octets, const Extent& extent, const Track& track) noexcept;

/// Returns how many Markers an FPDU has after its header, if each of its Markers tells where it begins; else nothing.
/// `octets` must contain it.
[[nodiscard]] std::optional<std::size_t> markers_that_agree(Bytes octets, const Extent& extent,
                                                            const Track& track) noexcept;

/// Reads the parts of FPDUs. Not thread-safe. The results refer to the FPDU and to the reader.
class FpduReader {
 public:
  /// Fills the members of `seen` that follow from the octets: lengths, Markers, ULPDU, PAD and CRC values. The piece
  /// and the CRC verdict must be set.
  void read(const Extent& extent, const Track& track, FpduSeen& seen);

 private:
  void find_markers(Bytes fpdu, const Extent& extent, const Track& track);
  [[nodiscard]] Bytes without_markers(Bytes fpdu, const Extent& extent, const Track& track);

  std::vector<MarkerSeen> markers_{};
  std::vector<std::byte> scratch_{};
};

}  // namespace weft::conformance
