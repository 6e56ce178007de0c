// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/crc.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

#include "common/crc32c.hpp"
#include "conformance/rules/rule_group.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kWrong{"MPA-4.4-13", kViolation, kMpa, "RFC 5044 4.4",
                      "The CRC field is the CRC32c of the FPDU, least significant octet first."};
constexpr Rule kNotGenerated{"MPA-7.1.1-11", kViolation, kMpa, "RFC 5044 7.1.1",
                             "With C set in either startup frame both ends generate CRCs."};
constexpr std::array kCrcRules{&kWrong, &kNotGenerated};
const RuleGroup kCrcGroup{kCrcRules};

// Over everything but the Markers, which MPA-4.4-15 wants included.
std::uint32_t crc_without_markers(const FpduSeen& fpdu) noexcept {
  std::array<std::byte, mpa::kLengthSize> length{};
  mpa::UlpduLength::put(length, fpdu.ulpdu_length);
  return Crc32c{}.update(length).update(fpdu.ulpdu).update(fpdu.pad).value();
}

}  // namespace

std::optional<CrcRules::Habit> CrcRules::habit(const FpduSeen& fpdu) {
  if (fpdu.crc_field == 0) return Habit::kZero;
  if (std::byteswap(fpdu.crc_field) == fpdu.crc_computed) return Habit::kOctetOrder;
  if (fpdu.crc_field == ~fpdu.crc_computed) return Habit::kNotInverted;
  if (!fpdu.markers.empty() && fpdu.crc_field == crc_without_markers(fpdu)) return Habit::kWithoutMarkers;
  return std::nullopt;
}

void CrcRules::on(const FpduSeen& fpdu, const Facts&, Findings& findings) {
  if (fpdu.crc != CrcVerdict::kBad) return;
  const auto cause = habit(fpdu);
  if (cause) {
    bool& told = told_[static_cast<std::size_t>(fpdu.piece.from)][static_cast<std::size_t>(*cause)];
    if (std::exchange(told, true)) return;
  }
  const Where field{&fpdu.piece, fpdu.piece.octets.size() - mpa::kCrcSize, mpa::kCrcSize};
  if (cause == Habit::kZero) {
    return findings.add(kNotGenerated, field, "CRCs are in use and the field is zero.");
  }
  std::string message =
      fmt::format("The FPDU has the CRC {:#010x}, but its octets give {:#010x}", fpdu.crc_field, fpdu.crc_computed);
  if (cause == Habit::kOctetOrder) message += "; it would be right with the octets in the other order";
  if (cause == Habit::kNotInverted) message += "; it would be right with all bits inverted";
  if (cause == Habit::kWithoutMarkers) message += "; it would be right if the Markers did not count";
  findings.add(kWrong, field, message + ".");
}

}  // namespace weft::conformance
