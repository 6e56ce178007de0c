// SPDX-License-Identifier: Apache-2.0
// MULPDU: the largest ULPDU that fits one FPDU in one TCP segment, RFC 5044 section 4.5 (MPA-3-02, MPA-4.5-01).
// Call it again when TCP's EMSS changes (MPA-4.5-07).
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpa/fpdu.hpp"

namespace weft::mpa {

inline constexpr std::uint32_t kMinMulpdu = 128;  // MPA-4.5-08, MPA-4.5-10: even when EMSS is smaller

// `emss`: octets of TCP payload in a full segment (MPA-2-01), TCP options already taken off. Within 128 and 64768
// (MPA-3-04); with an EMSS of 134 or more the answer is 2 modulo 4, so a full FPDU has no PAD.
[[nodiscard]] constexpr std::uint32_t mulpdu(std::uint32_t emss, bool markers) noexcept {
  const std::uint64_t marker_octets =
      markers ? 4 * ((std::uint64_t{emss} + 511) / 512) : 0;  // MPA-4.5-02, MPA-4.5-03, MPA-5.1-01
  const std::uint64_t overhead = 6 + marker_octets + emss % 4;
  const std::uint64_t fits = emss > overhead ? emss - overhead : 0;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fits, kMinMulpdu, kMaxUlpdu));
}

}  // namespace weft::mpa
