// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/markers.hpp"

#include <fmt/format.h>

#include <array>

#include "common/text.hpp"
#include "conformance/rules/rule_group.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kReserved{"MPA-4.2-02", kViolation, kMpa, "RFC 5044 4.2",
                         "The reserved half of a Marker is sent as zero."};
constexpr Rule kLowBits{"MPA-4.2-05", kViolation, kMpa, "RFC 5044 4.2",
                        "The two low bits of FPDUPTR are sent as zero."};
constexpr Rule kInside{"MPA-4.3-05", kViolation, kMpa, "RFC 5044 4.3",
                       "FPDUPTR inside an FPDU is the distance from its ULPDU_Length field to the Marker."};
constexpr Rule kBoundary{"MPA-4.3-07", kViolation, kMpa, "RFC 5044 4.3",
                         "FPDUPTR of a Marker between two FPDUs is zero."};
constexpr Rule kFirst{"MPA-4.3-12", kViolation, kMpa, "RFC 5044 4.3", "The first Marker of a direction is 00000000."};
constexpr Rule kNotAsked{"MPA-7.1.1-07", kViolation, kMpa, "RFC 5044 7.1.1",
                         "An end that received M=0 adds no Markers to its FPDUs."};
constexpr Rule kMissing{"MPA-7.1.1-08", kViolation, kMpa, "RFC 5044 7.1.1",
                        "An end that received M=1 adds Markers to its FPDUs."};
constexpr std::array kMarkerRules{&kReserved, &kLowBits, &kInside, &kBoundary, &kFirst, &kNotAsked, &kMissing};
const RuleGroup kMarkerGroup{kMarkerRules};

void judge_marker(const FpduSeen& fpdu, const MarkerSeen& marker, Findings& findings) {
  const Where whole{&fpdu.piece, marker.at, mpa::kMarkerSize};
  const Where pointer{&fpdu.piece, marker.at + 2, 2};
  const auto masked = static_cast<std::uint16_t>(marker.pointer & mpa::MarkerLayout::kPtrMask);
  const std::string says = fmt::format("FPDUPTR is {:#06x}", marker.pointer);
  if (!fpdu.mid_stream && fpdu.position == 0 && marker.at == 0) {
    if (marker.pointer == 0 && marker.reserved == 0) return;
    return findings.add(kFirst, whole,
                        fmt::format("The first Marker is {}.", hex(fpdu.piece.octets.first(mpa::kMarkerSize))));
  }
  if (marker.reserved != 0) {
    findings.add(kReserved, {&fpdu.piece, marker.at, 2},
                 fmt::format("The reserved half is {:#06x}, not 0.", marker.reserved));
  }
  if (masked != marker.expected_pointer) {
    findings.add(marker.at == 0 ? kBoundary : kInside, pointer,
                 fmt::format("{}, not {:#06x}.", says, marker.expected_pointer));
  } else if (masked != marker.pointer) {
    findings.add(kLowBits, pointer, says + ": its low two bits are not zero.");
  }
}

}  // namespace

// From the first FPDU on, or only in the last one, which ends the stream.
void MarkerRules::judge_use(const FpduSeen& fpdu, const Facts& facts, Findings& findings) {
  const auto& receiver = fpdu.piece.from == Direction::kFromInitiator ? facts.reply : facts.request;
  bool& told = told_[static_cast<std::size_t>(fpdu.piece.from)];
  if (told || fpdu.mid_stream || !receiver || receiver->markers == fpdu.framing.markers) return;
  told = true;
  const Where where{&fpdu.piece, 0, mpa::kMarkerSize};
  if (fpdu.framing.markers) {
    findings.add(kNotAsked, where, "The FPDUs can be read only with Markers, but the receiver sent M=0.");
  } else {
    findings.add(kMissing, where, "The FPDUs make sense without Markers only, and the receiver sent M=1.");
  }
}

void MarkerRules::on(const FpduSeen& fpdu, const Facts& facts, Findings& findings) {
  judge_use(fpdu, facts, findings);
  for (const MarkerSeen& marker : fpdu.markers) judge_marker(fpdu, marker, findings);
}

}  // namespace weft::conformance
