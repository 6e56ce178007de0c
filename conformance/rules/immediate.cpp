// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/immediate.hpp"

#include <fmt/format.h>

#include "conformance/rules/rule_group.hpp"
#include "rdmap/immediate.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule kImmediateSize{"RDMAPX-6.3-05", Severity::kViolation, Layer::kRdmap, "RFC 7306 6.3",
                              "Immediate Data is exactly 8 octets."};
constexpr std::array kImmediateRules{&kImmediateSize};
const RuleGroup kImmediateGroup{kImmediateRules};

}  // namespace

void judge_immediate(const Ulpdu& ulpdu, Findings& findings) {
  const std::size_t size = ulpdu.payload.size();
  constexpr std::size_t kSize = rdmap::ImmediateData{}.size();
  // If the beginning of the message is not known, only a segment that is too long by itself is wrong.
  if (ulpdu.in_one_segment() ? size == kSize : size <= kSize) return;
  findings.add(kImmediateSize, ulpdu.in_payload(0, ulpdu.payload.size()),
               fmt::format("the Immediate Data has {} octets, not {}", size, kSize));
}

}  // namespace weft::conformance::rules
