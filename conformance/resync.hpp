// SPDX-License-Identifier: Apache-2.0
// Finds FPDUs in octets where it is not known where one begins: behind a gap of the capture, behind a broken length, or
// because the capture begins in mid-connection. Each octet is looked at once, and the work is bounded by a multiple of
// the octets.
#pragma once

#include <cstdint>
#include <optional>

#include "conformance/fpdu_chain.hpp"

namespace weft::conformance {

// What is known of the framing; the rest is tried.
struct Known {
  std::optional<bool> crc{};                // FPDUs have CRCs
  std::optional<bool> markers{};            // and Markers
  std::optional<std::uint64_t> position{};  // of the first octet, when the beginning of the FPDU stream is known
};

// What a scan has found.
struct Regained {
  std::size_t skip{};            // octets at the front that begin no row of FPDUs
  std::optional<Track> found{};  // one begins behind them
  std::size_t needed{};          // behind them there may be one: the octets that are needed to tell
};

// The search in one direction, from one loss to the next.
class Resync {
 public:
  // `cut`: no octets will follow these. Present what is left, with more behind it, next time.
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
