// SPDX-License-Identifier: Apache-2.0
// Whether octets look like an FPDU when no CRC tells: version bits, reserved bits and the opcode table leave one chance
// in a thousand to noise, and the walk asks for several in a row.
#pragma once

#include "common/wire.hpp"

namespace weft::conformance {

// Octets of an FPDU that are enough to judge: its length field and the largest header of DDP.
inline constexpr std::size_t kJudgedOctets = 20;

// `ulpdu`: the beginning of a ULPDU of `length` octets, at least the header as far as the ULPDU holds one. Lengths
// above 64768, which no sender may use (MPA-3-05), are in use nevertheless.
[[nodiscard]] bool plausible_ulpdu(Bytes ulpdu, std::size_t length) noexcept;

}  // namespace weft::conformance
