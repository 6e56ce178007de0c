// SPDX-License-Identifier: Apache-2.0
/// @file
/// Plausibility of FPDUs without CRCs.
///
/// Random octets pass the checks of version bits, reserved bits and opcode with a probability of about 1/1000, and the
/// walk requires several plausible FPDUs in sequence.
#pragma once

#include "common/wire.hpp"

namespace weft::conformance {

/// Number of octets of an FPDU that suffice for a decision: the length field and the largest DDP header.
inline constexpr std::size_t kJudgedOctets = 20;

/// Returns whether the beginning of a ULPDU of `length` octets looks like a DDP header.
/// `ulpdu` must contain at least the header, or the whole ULPDU if that is shorter. Lengths above 64768, which no
/// sender may use (MPA-3-05), count as plausible because some senders use them.
[[nodiscard]] bool plausible_ulpdu(Bytes ulpdu, std::size_t length) noexcept;

/// Returns whether a ULPDU is a Terminate with an error that RFC 6581 has a Responder report before the Initiator's
/// first FPDU: layer 2, type 0, code 5 to 7 (RFC 6581 section 8). Octets that are no FPDU hardly look like that by
/// chance.
[[nodiscard]] bool plausible_startup_error(Bytes ulpdu) noexcept;

}  // namespace weft::conformance
