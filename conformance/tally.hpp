// SPDX-License-Identifier: Apache-2.0
/// @file
/// Statistics of one direction of a connection, for reports.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "conformance/seen.hpp"

namespace weft::conformance {

/// Counts the messages of one RDMAP opcode.
struct MessageCount {
  std::uint64_t messages{};  ///< number of segments with the L bit
  std::uint64_t segments{};  ///< number of FPDUs
  std::uint64_t octets{};    ///< number of payload octets
};

/// Counts what one direction carried.
struct Tally {
  std::optional<mpa::Framing> framing{};  ///< framing of the FPDUs; the last one if it changed
  std::uint64_t streaming_octets{};       ///< octets before MPA
  std::uint64_t fpdus{};                  ///< all FPDUs, including invalid ones
  std::uint64_t bad_crcs{};               ///< FPDUs with a wrong CRC
  std::array<MessageCount, 16>
      by_opcode{};          ///< counts by RDMAP opcode (4 bits), of FPDUs that MPA delivers and that have a DDP header
  std::uint64_t markers{};  ///< Markers in all FPDUs
  bool mid_stream{};        ///< the capture lacks the beginning, or octets in between
  std::uint64_t times_lost{};      ///< how often the FPDUs could not be followed
  std::uint64_t octets_skipped{};  ///< octets until FPDUs were found again
  std::uint64_t octets_read{};     ///< octets of startup frames and FPDUs
  std::uint64_t octets_missing{};  ///< octets that the capture lacks; known once the capture is over
  std::uint64_t octets_unread{};   ///< octets not read because the capture lacks them or others near them; as above
  std::optional<Closing> ended{};  ///< how the direction ended; nothing if it has not

  /// Adds an FPDU to the counts.
  void count(const FpduSeen& fpdu);
};

}  // namespace weft::conformance
