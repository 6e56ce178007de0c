// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/rules/rule_group.hpp"
#include "mpa/mulpdu.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kMulpdu{"MPA-3-03", kWarning, kMpa, "RFC 5044 3", "A ULPDU is at most as long as the MULPDU."};
constexpr Rule kAligned{"MPA-5.1-04", kWarning, kMpa, "RFC 5044 5.1",
                        "The sender makes TCP segments begin with an FPDU."};
constexpr std::array kAlignmentRules{&kMulpdu, &kAligned};
const RuleGroup kAlignmentGroup{kAlignmentRules};

constexpr std::size_t kMostStarts = 1024;
constexpr std::uint16_t kSmallestEmss = 128;  // below it nothing is asked for

// The largest segment that this direction may send: what the other end's MSS option says, TCP options not taken off.
std::optional<std::uint16_t> emss(Direction from, const Facts& facts) noexcept {
  return from == Direction::kFromInitiator ? facts.mss_from_responder : facts.mss_from_initiator;
}

bool small_segments(Direction from, const Facts& facts) noexcept {
  return emss(from, facts).value_or(kSmallestEmss) < kSmallestEmss;
}

}  // namespace

void AlignmentRules::on(const SegmentSeen& seen, const Facts&, Findings&) {
  if (seen.segment.retransmission || seen.segment.size == 0) return;
  auto& starts = half(seen.from).starts;
  if (starts.size() == kMostStarts) starts.pop_front();
  const Start start{seen.segment.stream_offset, seen.segment.packet};
  starts.insert(std::ranges::upper_bound(starts, start.stream_offset, {}, &Start::stream_offset), start);
}

void AlignmentRules::on(const FpduSeen& fpdu, const Facts& facts, Findings&) {
  Half& sender = half(fpdu.piece.from);
  ++sender.fpdus;
  count_segments(sender, fpdu);
  if (fpdu.crc != CrcVerdict::kBad) count_oversized(sender, fpdu, facts);
}

void AlignmentRules::count_segments(Half& half, const FpduSeen& fpdu) {
  const std::uint64_t begin = fpdu.piece.stream_offset;
  const std::uint64_t end = begin + fpdu.piece.octets.size();
  while (!half.starts.empty() && half.starts.front().stream_offset < end) {
    const Start start = half.starts.front();
    half.starts.pop_front();
    if (start.stream_offset < begin) continue;   // in front of the FPDUs
    if (fpdu.crc == CrcVerdict::kBad) continue;  // where it really ends is not known
    ++half.segments;
    if (start.stream_offset == begin) {
      ++half.aligned;
    } else if (half.segments - half.aligned == 1) {
      half.first_unaligned = start;
    }
  }
}

void AlignmentRules::count_oversized(Half& half, const FpduSeen& fpdu, const Facts& facts) {
  const auto mss = emss(fpdu.piece.from, facts);
  if (!mss || *mss < kSmallestEmss) return;
  half.limit = mpa::mulpdu(*mss, fpdu.framing.markers);
  if (fpdu.ulpdu_length <= half.limit) return;
  half.largest = std::max(half.largest, fpdu.ulpdu_length);
  if (half.oversized++ > 0) return;
  half.first_oversized = fpdu.piece.first;
  half.first_oversized_offset = fpdu.piece.stream_offset;
}

// Segments that begin in what is unknown are not counted.
void AlignmentRules::forget(Direction from) { half(from).starts.clear(); }

void AlignmentRules::finish(const Facts& facts, Findings& findings) {
  for (const Direction from : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const Half& sender = half(from);
    if (sender.oversized > 0) {
      findings.add(
          kMulpdu, from, sender.first_oversized, sender.first_oversized_offset,
          fmt::format("{} of {} ULPDUs are longer than the MULPDU of {} that the MSS option allows; the longest "
                      "has {} octets.",
                      sender.oversized, sender.fpdus, sender.limit, sender.largest));
    }
    if (sender.aligned < sender.segments && !small_segments(from, facts)) {
      findings.add(kAligned, from, {sender.first_unaligned.packet, 0}, sender.first_unaligned.stream_offset,
                   fmt::format("{} of {} TCP segments do not begin with an FPDU.", sender.segments - sender.aligned,
                               sender.segments));
    }
  }
}

}  // namespace weft::conformance
