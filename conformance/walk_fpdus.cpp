// SPDX-License-Identifier: Apache-2.0
// The walk: from one FPDU to the next.
#include <limits>

#include "conformance/plausible.hpp"
#include "conformance/walk.hpp"

namespace weft::conformance {

// An FPDU begins where the one before it ended, and its length tells where it ends.
bool Walk::follow(Half& half) {
  const Bytes octets = half.window.octets();
  if (octets.empty()) return false;
  const Verdict other = other_framing(half);
  if (other == Verdict::kYes) return true;
  const auto size = extent(octets, half.track);
  if (!size || octets.size() < size->size) {
    half.undecided = false;
    if (cut(half)) return follow_cut(half);
    half.needed = first_needed(half, size ? size->size : mpa::kMarkerSize + mpa::kLengthSize);
    return false;
  }
  if (convincing(octets, *size, half.track)) return tell_fpdu(half, *size, CrcVerdict::kGood);
  if (other == Verdict::kMoreOctets && !cut(half)) {
    half.undecided = true;
    half.needed = first_needed(half, std::numeric_limits<std::size_t>::max());  // the other reading's
    return false;
  }
  return follow_doubtful(half, *size);
}

// The CRC is wrong, or there is none and the header makes no sense.
bool Walk::follow_doubtful(Half& half, const Extent& size) {
  if (half.guessed && half.window.begin() - half.guessed_at < 2 * mpa::kMarkerPeriod) {
    lose(half, {});
    return true;
  }
  if (half.rejected) {  // no FPDU, as it should be
    half.phase = Phase::kIgnoring;
    return true;
  }
  Effort effort;
  const Bytes behind = half.window.octets().subspan(size.size);
  switch (leads_on(behind, half.track.behind(size.size), cut(half), effort)) {
    case Verdict::kYes: return tell_fpdu(half, size, CrcVerdict::kBad);
    case Verdict::kNo: lose(half, LossReason::kNotAnFpdu); return true;
    case Verdict::kMoreOctets: break;
  }
  half.undecided = true;
  half.needed = first_needed(half, size.size + effort.needed);
  return false;
}

// The octets end inside an FPDU, or a broken length makes it seem so: then there are FPDUs in what it swallowed.
bool Walk::follow_cut(Half& half) {
  const Bytes octets = half.window.octets();
  if (octets.size() <= mpa::kLengthSize || half.rejected) return false;
  Resync look;
  Known framing{.crc = half.track.framing.crc, .markers = half.track.framing.markers, .position = {}};
  const std::size_t skip = half.number == 0 ? 1 : 4;  // the first FPDU may not begin where PD_Length says
  if (half.number > 0) framing.position = half.track.position + skip;
  const Regained found = octets.size() > skip ? look.scan(octets.subspan(skip), framing, true) : Regained{};
  if (!found.found) return false;
  lose(half, half.guessed ? std::nullopt : std::optional(LossReason::kNotAnFpdu));
  return true;
}

// At the beginning of the stream: Markers where none were asked for, or none where they were (MPA-7.1.1-07,
// MPA-7.1.1-08). What was asked for makes no sense, and the contrary does.
Verdict Walk::other_framing(Half& half) {
  if (half.number != 0 || half.mid_stream || half.track.position != 0) return Verdict::kNo;
  const Bytes octets = half.window.octets();
  const auto asked = extent(octets, half.track);
  if (!asked || plausible(octets, *asked, half.track).value_or(true)) return Verdict::kNo;
  const Track contrary = half.track.contrary();
  const auto size = extent(octets, contrary);
  if (!size || octets.size() < size->size) {
    const bool may_be = !size || plausible(octets, *size, contrary).value_or(true);
    return may_be ? Verdict::kMoreOctets : Verdict::kNo;
  }
  if (!convincing(octets, *size, contrary)) return Verdict::kNo;
  if (octets.size() >= asked->size && convincing(octets, *asked, half.track)) return Verdict::kNo;
  half.track = contrary;
  return Verdict::kYes;
}

// Before the first FPDU both readings are looked at, each when it can say more.
std::size_t Walk::first_needed(const Half& half, std::size_t needed) const noexcept {
  if (half.number != 0 || half.mid_stream || half.track.position != 0) return needed;
  const Bytes octets = half.window.octets();
  if (octets.size() < mpa::kMarkerSize + kJudgedOctets) return 0;
  const auto contrary = extent(octets, half.track.contrary());
  return contrary && contrary->size > octets.size() ? std::min(needed, contrary->size) : needed;
}

// `crc`: what the CRC says, if there is one.
bool Walk::tell_fpdu(Half& half, const Extent& size, CrcVerdict crc) {
  const Piece whole = piece(half, size.size);
  half.undecided = false;
  if (must_wait(half, whole.last.packet)) return false;
  if (half.late_until && whole.last.packet > *half.late_until) {
    half.late_until.reset();
    tell(ResumedSeen{whole.from, 0, whole.stream_offset, whole.first});
  }
  if (half.overtaken) half.late_until = other(half).last_packet;
  half.overtaken = false;
  auto& seen = std::get<FpduSeen>(queue_.emplace_back(std::in_place_type<FpduSeen>));
  seen.piece = whole;
  seen.number = ++half.number;
  seen.mid_stream = half.mid_stream;
  seen.crc = half.track.framing.crc ? crc : CrcVerdict::kNotInUse;
  reader_.read(size, half.track, seen);
  half.last_packet = whole.last.packet;
  half.track = half.track.behind(size.size);
  half.window.drop(size.size);
  if (half.guessed && half.window.begin() - half.guessed_at >= 2 * mpa::kMarkerPeriod) half.guessed = false;
  return true;
}

}  // namespace weft::conformance
