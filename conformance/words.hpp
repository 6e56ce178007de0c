// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pieces of a connection in words, part by part. The first part names the piece; each caller adds its own colors and
/// punctuation.
#pragma once

#include <string>
#include <vector>

#include "conformance/seen.hpp"

namespace weft::conformance {

/// Holds the parts of a description.
using Words = std::vector<std::string>;

/// Returns "17 octets before MPA".
[[nodiscard]] Words words_of(const StreamingSeen& streaming);
/// Returns "octets are missing from the capture" or "what follows is no FPDU".
[[nodiscard]] Words words_of(const LostSeen& lost);
/// Returns "FPDUs again, 17 octets later".
[[nodiscard]] Words words_of(const ResumedSeen& resumed);
/// Returns "FIN" or "RST", and "17 octets of an unfinished FPDU before it".
[[nodiscard]] Words words_of(const EndSeen& end);
/// Returns "FPDU 3 with a wrong CRC" or "FPDU 3 without a readable DDP header", and "ULPDU of 17 octets". For an FPDU
/// that belongs to no message.
[[nodiscard]] Words words_of_stray(const FpduSeen& fpdu);

}  // namespace weft::conformance
