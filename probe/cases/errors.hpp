// SPDX-License-Identifier: Apache-2.0
// The errors that Terminates name, as the cases write them.
#pragma once

#include "rdmap/errors.hpp"

namespace weft::probe {

// Layer 2, RFC 5044 section 8 and RFC 6581 section 8.
inline constexpr rdmap::ErrorCode kBadCrc{rdmap::Layer::kLlp, 0, 0x02};
inline constexpr rdmap::ErrorCode kMarkerMismatch{rdmap::Layer::kLlp, 0, 0x03};
inline constexpr rdmap::ErrorCode kBadStartupFrame{rdmap::Layer::kLlp, 0, 0x04};
inline constexpr rdmap::ErrorCode kEnhancedFailure{rdmap::Layer::kLlp, 0, 0x05};
inline constexpr rdmap::ErrorCode kInsufficientIrd{rdmap::Layer::kLlp, 0, 0x06};
inline constexpr rdmap::ErrorCode kNoMatchingRtr{rdmap::Layer::kLlp, 0, 0x07};

}  // namespace weft::probe
