// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/ddp_header.hpp"

#include <fmt/format.h>

#include "conformance/rules/rule_group.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule kUlpduTooShort{"DDP-4-01", Severity::kViolation, Layer::kDdp, "RFC 5041 4",
                              "A ULPDU holds at least a whole DDP header: 14 octets with T=1, 18 with T=0."};
constexpr Rule kDdpVersion{"DDP-4.1-13", Severity::kViolation, Layer::kDdp, "RFC 5041 4.1",
                           "DV is 1 in every segment."};
constexpr Rule kDdpReserved{"DDP-4.1-11", Severity::kViolation, Layer::kDdp, "RFC 5041 4.1",
                            "The four Rsvd bits of the DDP Control Field are sent as zero."};
constexpr std::array kDdpHeaderRules{&kUlpduTooShort, &kDdpVersion, &kDdpReserved};
const RuleGroup kDdpHeaderGroup{kDdpHeaderRules};

constexpr std::uint8_t kReservedBits = 0x3C;

}  // namespace

bool judge_ddp_header(const FpduSeen& fpdu, Findings& findings) {
  const auto error = ddp::find_error(fpdu.ulpdu);
  if (error == ddp::HeaderError::kTooShort) {
    findings.add(kUlpduTooShort, Where{&fpdu.piece, 0, fpdu.piece.octets.size()},
                 fmt::format("the ULPDU has {} octets, too few for a DDP header", fpdu.ulpdu.size()));
    return false;
  }
  const auto control = ddp::TaggedLayout::Ctrl::get(fpdu.ulpdu);
  const Where control_octet{&fpdu.piece, fpdu.ulpdu_at(0), 1};
  if (error) {
    findings.add(kDdpVersion, control_octet,
                 fmt::format("DV is {}, not 1 (control octet {:02x})", control & ddp::Control::kVersionMask, control));
  }
  if ((control & kReservedBits) != 0) {
    findings.add(kDdpReserved, control_octet,
                 fmt::format("the Rsvd bits are {:04b}, not 0000 (control octet {:02x})",
                             (control & kReservedBits) >> 2, control));
  }
  return true;
}

}  // namespace weft::conformance::rules
