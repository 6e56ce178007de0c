// SPDX-License-Identifier: Apache-2.0
// What a direction of a connection carried, for reports.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "conformance/seen.hpp"

namespace weft::conformance {

// How much of one RDMAP opcode.
struct MessageCount {
  std::uint64_t messages{};  // segments with L
  std::uint64_t segments{};  // FPDUs
  std::uint64_t octets{};    // of payload
};

// What one direction carried.
struct Tally {
  std::optional<mpa::Framing> framing{};  // of the FPDUs; the last one, should it have changed
  std::uint64_t streaming_octets{};       // before MPA
  std::uint64_t fpdus{};                  // all, whatever is wrong with them
  std::uint64_t bad_crcs{};               // FPDUs whose CRC is wrong
  std::array<MessageCount, 16>
      by_opcode{};                 // four bits; of RDMAP; only FPDUs that MPA delivers and that have a DDP header
  std::uint64_t markers{};         // in all FPDUs
  bool mid_stream{};               // the beginning was not captured, or something in between
  std::uint64_t times_lost{};      // how often the FPDUs could not be followed
  std::uint64_t octets_skipped{};  // until they were found again
  std::optional<Closing> ended{};  // by a FIN or a reset; nothing while it goes on

  void count(const FpduSeen& fpdu);  // adds one
};

}  // namespace weft::conformance
