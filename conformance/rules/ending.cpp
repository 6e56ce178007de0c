// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/ending.hpp"

#include <fmt/format.h>

#include <array>

#include "conformance/rules/rule_group.hpp"

namespace weft::conformance {
namespace {

constexpr Rule kInsideFpdu{"MPA-7.2-01", Severity::kViolation, Layer::kConnection, "RFC 5044 7.2",
                           "A direction ends at the end of an FPDU."};
constexpr std::array kEndingRules{&kInsideFpdu};
const RuleGroup kEndingGroup{kEndingRules};

}  // namespace

// A reset may come at any time, and takes with it what was on its way.
void EndingRules::on(const EndSeen& end, const Facts&, Findings& findings) {
  if (end.how != Closing::kFin || end.unfinished == 0 || bad_[static_cast<std::size_t>(end.from)]) return;
  findings.add(kInsideFpdu, end.from, {end.packet, 0}, end.unfinished_offset,
               fmt::format("The FIN comes {} octets into an FPDU.", end.unfinished));
}

}  // namespace weft::conformance
