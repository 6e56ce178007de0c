// SPDX-License-Identifier: Apache-2.0
// Look-ahead: does the length of an FPDU lead to another FPDU? That tells a broken field inside an FPDU from a broken
// length, and FPDUs from other octets. Bounded: a few FPDUs, so some 260 KiB at most.
#pragma once

#include <cstdint>

#include "common/wire.hpp"
#include "conformance/fpdu_reading.hpp"

namespace weft::conformance {

// The answer of a look-ahead.
enum class Verdict : std::uint8_t {
  kYes,         // it is so
  kNo,          // it is not
  kMoreOctets,  // will tell; Effort::needed says how many
};

// What looking costs and lacks.
struct Effort {
  std::uint64_t work{};  // octets that went into CRCs
  std::size_t needed{};  // with kMoreOctets: the octets from the same place on that are needed to tell more
};

// `behind`: the octets behind an FPDU that does not convince by itself. `cut`: no more will come.
[[nodiscard]] Verdict leads_on(Bytes behind, const Track& track, bool cut, Effort& effort) noexcept;

// Does a row of FPDUs begin here? Two with good CRCs, or two with plausible headers and the header of a third. Where
// the octets are cut, what is there must fit.
[[nodiscard]] Verdict row_begins(Bytes octets, const Track& track, bool cut, Effort& effort) noexcept;

// Do FPDUs begin here, at the beginning of their stream, whatever was agreed on? A good CRC says so, or a row as above.
// `crc`: whether they ought to have one, if that is known. `found` is how they are framed.
[[nodiscard]] Verdict fpdus_begin(Bytes octets, std::optional<bool> crc, bool cut, Track& found,
                                  Effort& effort) noexcept;

}  // namespace weft::conformance
