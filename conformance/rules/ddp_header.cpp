// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/ddp_header.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace weft::conformance::rules {

const Rule kUlpduTooShort{"DDP-4-01", Severity::kViolation, Layer::kDdp, "RFC 5041 4",
                          "A ULPDU holds at least a whole DDP header: 14 octets with T=1, 18 with T=0."};
const Rule kDdpVersion{"DDP-4.1-13", Severity::kViolation, Layer::kDdp, "RFC 5041 4.1", "DV is 1 in every segment."};
const Rule kDdpReserved{"DDP-4.1-11", Severity::kViolation, Layer::kDdp, "RFC 5041 4.1",
                        "The four Rsvd bits of the DDP Control Field are sent as zero."};

namespace {

constexpr std::uint8_t kReservedBits = 0x3C;

// The header with DV as it should be.
ddp::Header parse_as_version_1(Bytes ulpdu) noexcept {
  std::array<std::byte, ddp::UntaggedLayout::kSize> octets{};
  const Bytes front = ulpdu.first(std::min(ulpdu.size(), octets.size()));
  std::ranges::copy(front, octets.begin());
  octets[0] = (octets[0] & ~std::byte{ddp::Control::kVersionMask}) | std::byte{ddp::Control::kVersion};
  return *ddp::parse(Bytes(octets).first(front.size()));
}

}  // namespace

std::optional<Ulpdu> read_ddp_header(const FpduSeen& fpdu, Findings& findings) {
  const Bytes octets = fpdu.ulpdu;
  const auto header = ddp::parse(octets);
  if (!header && header.error() == ddp::HeaderError::kTooShort) {
    findings.add(kUlpduTooShort, Where{&fpdu.piece, 0, fpdu.piece.octets.size()},
                 fmt::format("the ULPDU has {} octets, too few for a DDP header", octets.size()));
    return std::nullopt;
  }
  Ulpdu ulpdu{&fpdu, header ? *header : parse_as_version_1(octets), 0, {}};
  ulpdu.payload = octets.subspan(ddp::header_size(ulpdu.header));
  ulpdu.rdmap_control = std::visit([](const auto& h) { return h.rsvd_ulp; }, ulpdu.header);

  const auto control = ddp::TaggedLayout::Ctrl::get(octets);
  if (!header) {
    findings.add(kDdpVersion, ulpdu.octets(0, 1),
                 fmt::format("DV is {}, not 1 (control octet {:02x})", control & ddp::Control::kVersionMask, control));
  }
  if ((control & kReservedBits) != 0) {
    findings.add(kDdpReserved, ulpdu.octets(0, 1),
                 fmt::format("the Rsvd bits are {:04b}, not 0000 (control octet {:02x})",
                             (control & kReservedBits) >> 2, control));
  }
  return ulpdu;
}

}  // namespace weft::conformance::rules
