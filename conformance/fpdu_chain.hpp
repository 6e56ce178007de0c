// SPDX-License-Identifier: Apache-2.0
/// @file
/// Look-ahead: whether the length of an FPDU leads to another FPDU.
///
/// This distinguishes a wrong field in an FPDU from a wrong length, and FPDUs from other octets. The look-ahead is
/// bounded: a few FPDUs, about 260 KiB at most.
#pragma once

#include <cstdint>

#include "common/wire.hpp"
#include "conformance/fpdu_reading.hpp"

namespace weft::conformance {

/// Holds the result of a look-ahead.
enum class Verdict : std::uint8_t {
  kYes,         ///< yes
  kNo,          ///< no
  kMoreOctets,  ///< undecided: Effort::needed is the number of octets needed
};

/// Counts the work of look-aheads, and the octets that they need.
struct Effort {
  std::uint64_t work{};  ///< octets over which CRCs were computed
  std::size_t needed{};  ///< for kMoreOctets: number of octets needed, from the same place
};

/// Returns whether an FPDU that is doubtful by itself is followed by other FPDUs.
/// `after` has the octets after it. `cut` is true if no more octets will arrive.
[[nodiscard]] Verdict leads_on(Bytes behind, const Track& track, bool cut, Effort& effort) noexcept;

/// Returns whether a sequence of FPDUs begins here: two with correct CRCs, or two with plausible headers and the header
/// of a third. If the octets are cut, the available ones must match.
[[nodiscard]] Verdict row_begins(Bytes octets, const Track& track, bool cut, Effort& effort) noexcept;

/// Returns whether an FPDU is at `octets[from]`, which `track` describes, and moves `from` and `track` after it. Its
/// CRC must be correct or, without CRCs, its header plausible. If the octets are cut, the available ones must match.
[[nodiscard]] Verdict row_goes_on(Bytes octets, std::size_t& from, Track& track, bool cut, Effort& effort) noexcept;

/// Returns whether the stream of FPDUs begins here, whatever was negotiated: a correct CRC or a sequence as above
/// proves it.
/// `crc` is whether FPDUs should have CRCs, if known. `found` receives the framing.
[[nodiscard]] Verdict fpdus_begin(Bytes octets, std::optional<bool> crc, bool cut, Track& found,
                                  Effort& effort) noexcept;

}  // namespace weft::conformance
