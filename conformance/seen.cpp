// SPDX-License-Identifier: Apache-2.0
#include "conformance/seen.hpp"

namespace weft::conformance {

std::size_t FpduSeen::ulpdu_at(std::size_t offset) const noexcept {
  std::size_t at = mpa::kLengthSize + offset;
  for (const MarkerSeen& marker : markers) {
    if (marker.at <= at) at += mpa::kMarkerSize;
  }
  return at;
}

}  // namespace weft::conformance
