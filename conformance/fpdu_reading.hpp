// SPDX-License-Identifier: Apache-2.0
// One FPDU at the front of octets, under a framing that is known or tried: where it ends, whether its CRC is right and
// its header plausible, and, for the rules, all of it with its Markers. The arithmetic is mpa/fpdu.hpp's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/seen.hpp"
#include "mpa/fpdu.hpp"

namespace weft::conformance {

// Where in the FPDU stream octets lie, and how it is framed. Without Markers the position does not matter.
struct Track {
  mpa::Framing framing{};    // with CRCs? with Markers?
  std::uint64_t position{};  // octets behind the sender's startup frame
  // The same framing, that number of octets further on.
  [[nodiscard]] Track behind(std::size_t octets) const noexcept { return {framing, position + octets}; }
  // With Markers instead of without, or the other way round.
  [[nodiscard]] Track contrary() const noexcept {
    return {{.crc = framing.crc, .markers = !framing.markers}, position};
  }
};

// Where an FPDU ends, by its length field.
struct Extent {
  std::size_t header{};  // octets before the length field: a leading Marker
  std::size_t ulpdu{};   // ULPDU_Length
  std::size_t size{};    // of the FPDU, Markers included
};

// What the length field says; empty when it is not there yet.
[[nodiscard]] std::optional<Extent> extent(Bytes octets, const Track& track) noexcept;

// `fpdu`: a whole one.
// What its last four octets say.
[[nodiscard]] std::uint32_t crc_field(Bytes fpdu) noexcept;
// The CRC of the octets before them.
[[nodiscard]] std::uint32_t computed_crc(Bytes fpdu) noexcept;

// Empty when the octets do not reach far enough to tell.
// Whether version, reserved bits and opcode look like a DDP header (plausible.hpp).
[[nodiscard]] std::optional<bool> plausible(Bytes octets, const Extent& extent, const Track& track) noexcept;

// Says the CRC, or without one the header and the PAD, that this is an FPDU? It is all there.
[[nodiscard]] bool convincing(Bytes octets, const Extent& extent, const Track& track) noexcept;

// Takes an FPDU apart. What it tells of points into the FPDU and into the reader.
class FpduReader {
 public:
  // Of an FPDU whose piece and CRC's verdict are known, fills what follows from the octets: lengths, Markers, ULPDU,
  // PAD and the CRC's values.
  void read(const Extent& extent, const Track& track, FpduSeen& seen);

 private:
  void find_markers(Bytes fpdu, const Extent& extent, const Track& track);
  [[nodiscard]] Bytes without_markers(Bytes fpdu, const Extent& extent, const Track& track);

  std::vector<MarkerSeen> markers_{};
  std::vector<std::byte> scratch_{};
};

}  // namespace weft::conformance
