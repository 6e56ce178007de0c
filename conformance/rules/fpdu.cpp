// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/fpdu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.hpp"
#include "conformance/rules/rule_group.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kTooLong{"MPA-3-05", kViolation, kMpa, "RFC 5044 3", "A ULPDU is at most 64768 octets long."};
constexpr Rule kLength{"MPA-4.1-02", kViolation, kMpa, "RFC 5044 4.1",
                       "ULPDU_Length counts the octets of the ULPDU, and so determines where the next FPDU begins."};
constexpr Rule kPad{"MPA-4.1-03", kViolation, kMpa, "RFC 5044 4.1", "PAD octets are sent as zero."};
constexpr std::array kFpduRules{&kTooLong, &kLength, &kPad};
const RuleGroup kFpduGroup{kFpduRules};

}  // namespace

void FpduRules::on(const FpduSeen& fpdu, const Facts&, Findings& findings) {
  if (fpdu.ulpdu_length > mpa::kMaxUlpdu) {
    const std::size_t at = !fpdu.markers.empty() && fpdu.markers[0].at == 0 ? mpa::kMarkerSize : 0;
    findings.add(kTooLong, {&fpdu.piece, at, mpa::kLengthSize},
                 fmt::format("ULPDU_Length is {}, more than {}.", fpdu.ulpdu_length, mpa::kMaxUlpdu));
  }
  const bool clean = std::ranges::all_of(fpdu.pad, [](std::byte octet) { return octet == std::byte{0}; });
  if (clean) return;
  findings.add(kPad, {&fpdu.piece, fpdu.ulpdu_at(fpdu.ulpdu.size()), fpdu.pad.size()},
               fmt::format("PAD is {}, not zero.", hex(fpdu.pad)));
}

void FpduRules::on(const LostSeen& lost, const Facts&, Findings& findings) {
  if (lost.reason != LossReason::kNotAnFpdu) return;
  findings.add(
      kLength, lost.from, lost.place, lost.stream_offset,
      "Here an FPDU should begin, and its ULPDU_Length leads to no other one: it is wrong, or that of the FPDU "
      "before.");
}

}  // namespace weft::conformance
