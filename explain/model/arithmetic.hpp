// SPDX-License-Identifier: Apache-2.0
// What MPA computes, spelled out: padding, CRC, Markers (RFC 5044 sections 4.1 to 4.4).
#pragma once

#include <vector>

#include "explain/model/model.hpp"

namespace weft::explain {

/// Returns why an FPDU has this many octets of padding.
[[nodiscard]] Pad pad_of(const conformance::FpduSeen& fpdu);
/// What the CRC was computed over, and what came out.
[[nodiscard]] Crc crc_of(const conformance::FpduSeen& fpdu);
/// The Markers inside, and where each points.
[[nodiscard]] std::vector<MarkerAt> markers_of(const conformance::FpduSeen& fpdu);

}  // namespace weft::explain
