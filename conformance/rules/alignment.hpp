// SPDX-License-Identifier: Apache-2.0
// How FPDUs lie in TCP segments (RFC 5044 sections 3, 4.5 and 5.1). Nothing here is an error of framing: one finding
// per direction at the end, with counts.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class AlignmentRules {
 public:
  void on(const SegmentSeen& seen, const Facts& facts, Findings& findings);
  // Any FPDU whose extent is known, also one with a bad CRC.
  void on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);
  void forget(Direction from);
  void finish(const Facts& facts, Findings& findings);

 private:
  struct Start {
    std::uint64_t stream_offset{};
    std::uint64_t packet{};
  };
  struct Half {
    std::deque<Start> starts{};  // of segments whose octets have not been seen in an FPDU yet
    std::uint64_t segments = 0;  // that begin in an FPDU, or with one
    std::uint64_t aligned = 0;
    Start first_unaligned{};
    std::uint64_t fpdus = 0;
    std::uint64_t oversized = 0;
    Place first_oversized{};
    std::uint64_t first_oversized_offset = 0;
    std::uint32_t limit = 0;
    std::uint16_t largest = 0;
  };
  [[nodiscard]] Half& half(Direction from) noexcept { return halves_[static_cast<std::size_t>(from)]; }
  static void count_segments(Half& half, const FpduSeen& fpdu);
  static void count_oversized(Half& half, const FpduSeen& fpdu, const Facts& facts);

  std::array<Half, 2> halves_{};
};

}  // namespace weft::conformance
