// SPDX-License-Identifier: Apache-2.0
// The CRCs of a captured stream, checked by a walk from the startup frame on, FPDU by FPDU. What it needs of RFC 5044
// is a length, a pad and a CRC, so it uses none of weft's parsers.
#pragma once

#include <cstddef>

#include "tests/captures/capture_file.hpp"

namespace weft::captures {

struct CrcWalk {
  bool crc{};  // negotiated: by either end (MPA-4.4-06)
  std::size_t fpdus{};
  std::size_t bad{};
};

// One direction of a connection without Markers. An FPDU that the capture or the end of the connection cut off is not
// counted; neither is anything of a connection that does not speak MPA.
CrcWalk walk_crcs(const Connection& connection, Side side);

}  // namespace weft::captures
