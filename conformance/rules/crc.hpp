// SPDX-License-Identifier: Apache-2.0
// The CRC field (RFC 5044 section 4.4).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "conformance/facts.hpp"
#include "conformance/finding.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

class CrcRules {
 public:
  void on(const FpduSeen& fpdu, const Facts& facts, Findings& findings);

 private:
  // Ways to compute a wrong CRC on purpose. Each is one cause, told once per direction; damage is told each time.
  enum class Habit : std::uint8_t { kZero, kOctetOrder, kNotInverted, kWithoutMarkers, kCount };
  [[nodiscard]] static std::optional<Habit> habit(const FpduSeen& fpdu);

  std::array<std::array<bool, static_cast<std::size_t>(Habit::kCount)>, 2> told_{};
};

}  // namespace weft::conformance
