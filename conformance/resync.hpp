// SPDX-License-Identifier: Apache-2.0
/// @file
/// Search for FPDUs in octets of unknown framing: after a gap of the capture, after a wrong length, or because the
/// capture begins within a connection.
///
/// Each octet is examined once, and the work is bounded by a multiple of the number of octets.
#pragma once

#include <cstdint>
#include <optional>

#include "conformance/fpdu_chain.hpp"

namespace weft::conformance {

/// Describes what is known of the framing. The search tries all alternatives for the rest.
struct Known {
  std::optional<bool> crc{};      ///< whether FPDUs have CRCs
  std::optional<bool> markers{};  ///< whether FPDUs have Markers
  /// Position of the first octet, if the beginning of the FPDU stream is known
  std::optional<std::uint64_t> position{};
};

/// Holds the result of a scan.
struct Regained {
  std::size_t skip{};            ///< number of octets at the front at which no sequence of FPDUs begins
  std::optional<Track> found{};  ///< framing and position of the sequence that begins after them, if one does
  std::size_t needed{};          ///< if one may begin after them: number of octets needed to decide
};

/// Searches one direction, from one loss to the next. Not thread-safe.
class Resync {
 public:
  /// Scans octets. `cut` is true if no octets will follow. Otherwise call it again with the rest and the octets that
  /// follow.
  [[nodiscard]] Regained scan(Bytes octets, const Known& known, bool cut);

 private:
  [[nodiscard]] Verdict try_at(Bytes octets, const Known& known, bool cut, Track& found);
  [[nodiscard]] Verdict try_crc(Bytes octets, const Known& known, bool markers, std::uint64_t position, bool cut,
                                Track& found);
  [[nodiscard]] Verdict try_phases(Bytes octets, const Known& known, bool cut, Track& found);

  std::uint64_t looked_at_ = 0;  // octets
  Effort effort_{};
};

}  // namespace weft::conformance
