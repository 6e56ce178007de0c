// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/startup_error.hpp"

#include "conformance/plausible.hpp"

namespace weft::conformance {

bool is_startup_error(const FpduSeen& fpdu, const Facts& facts) noexcept {
  if (fpdu.piece.from != Direction::kFromResponder) return false;
  if (!facts.request || !facts.request->enhanced || !facts.reply || !facts.reply->enhanced) return false;
  return plausible_startup_error(fpdu.ulpdu);
}

}  // namespace weft::conformance
