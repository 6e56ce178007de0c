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
  const auto size = extent(octets, half.fpdus.track);
  if (!size || octets.size() < size->size) {
    half.turn.undecided = false;
    if (cut(half)) return follow_cut(half);
    half.needed = first_needed(half, size ? size->size : mpa::kMarkerSize + mpa::kLengthSize);
    return false;
  }
  if (convincing(octets, *size, half.fpdus.track)) return tell_fpdu(half, *size, CrcVerdict::kGood);
  if (other == Verdict::kMoreOctets && !cut(half)) {
    half.turn.undecided = true;
    half.needed = first_needed(half, std::numeric_limits<std::size_t>::max());  // the other reading's
    return false;
  }
  return follow_doubtful(half, *size);
}

// The CRC is wrong, or there is none and the header makes no sense.
bool Walk::follow_doubtful(Half& half, const Extent& size) {
  if (half.fpdus.guessed() || half.fpdus.may_be_nested) {
    lose(half, {});
    return true;
  }
  if (half.startup.rejected) {
    return ends_rejection(half, size) ? tell_fpdu(half, size, CrcVerdict::kBad) : leave_to_ulp(half);
  }
  Effort effort;
  const Bytes behind = half.window.octets().subspan(size.size);
  switch (leads_on(behind, half.fpdus.track.behind(size.size), cut(half), effort)) {
    case Verdict::kYes: return tell_fpdu(half, size, CrcVerdict::kBad);
    case Verdict::kNo: lose(half, LossReason::kNotAnFpdu); return true;
    case Verdict::kMoreOctets: break;
  }
  half.turn.undecided = true;
  half.needed = first_needed(half, size.size + effort.needed);
  return false;
}

// RFC 6581 has a Terminate go with a rejection. Here its CRC is wrong; without Markers inside, because it is short.
bool Walk::ends_rejection(const Half& half, const Extent& size) const noexcept {
  const bool first = half.end != initiator_ && half.fpdus.at_the_beginning();
  if (!first || !half.fpdus.track.framing.crc || size.size > mpa::kMarkerPeriod) return false;
  return plausible_startup_error(half.window.octets().subspan(size.header + mpa::kLengthSize, size.ulpdu));
}

// No FPDU follows the rejection, as it should be. But what the Initiator sent before the Reply could be read is not the
// ULP's: it was to wait.
bool Walk::leave_to_ulp(Half& half) {
  const auto& reply = other(half).startup.span;
  const bool before = initiator_ == half.end && reply && sent_without(half.window.acknowledged(0), reply->end);
  if (before && half.fpdus.number == 0) lose(half, LossReason::kNotAnFpdu);
  half.phase = Phase::kIgnoring;
  half.turn.undecided = false;
  return true;
}

// The octets end inside an FPDU by the Markers that it ought to have, and after it without them, as its CRC proves.
bool Walk::lacks_markers(const Half& half) noexcept {
  const Track& track = half.fpdus.track;
  if (!track.framing.markers || !track.framing.crc || half.fpdus.guessed()) return false;
  const Bytes octets = half.window.octets();
  const auto bare = extent(octets, track.contrary());
  if (!bare || octets.size() < bare->size) return false;
  return convincing(octets, *bare, track.contrary());
}

// The octets end inside an FPDU by its length, and FPDUs begin within it.
bool Walk::swallows_fpdus(Bytes octets, const WalkFpdus& fpdus) {
  const std::size_t skip = fpdus.least_skip();
  if (octets.size() <= skip) return false;
  Known framing{.crc = fpdus.track.framing.crc, .markers = fpdus.track.framing.markers, .position = {}};
  if (fpdus.number > 0) framing.position = fpdus.track.position + skip;
  return Resync().scan(octets.subspan(skip), framing, true).found.has_value();
}

// The octets end inside an FPDU, or a broken length makes it seem so: then there are FPDUs in what it swallowed.
bool Walk::follow_cut(Half& half) {
  const Bytes octets = half.window.octets();
  if (half.startup.rejected) return leave_to_ulp(half);
  if (octets.size() <= mpa::kLengthSize) return false;
  if (key_here(half)) {
    lose(half, LossReason::kNotAnFpdu);
    return true;
  }
  if (lacks_markers(half)) {
    half.fpdus.track = half.fpdus.track.contrary();
    return true;
  }
  if (!swallows_fpdus(octets, half.fpdus)) return false;
  const bool proven = half.stop.at_fin() && !half.fpdus.guessed() && !half.fpdus.may_be_nested;
  half.fpdus.nesting = true;
  lose(half, !proven ? std::nullopt : std::optional(LossReason::kNotAnFpdu));
  return true;
}

// At the beginning of the stream: Markers where none were asked for, or none where they were (MPA-7.1.1-07,
// MPA-7.1.1-08). What was asked for makes no sense, and the contrary does.
Verdict Walk::other_framing(Half& half) {
  if (!half.fpdus.at_the_beginning()) return Verdict::kNo;
  const Bytes octets = half.window.octets();
  const auto asked = extent(octets, half.fpdus.track);
  if (!asked || plausible(octets, *asked, half.fpdus.track).value_or(true)) return Verdict::kNo;
  const Track contrary = half.fpdus.track.contrary();
  const auto size = extent(octets, contrary);
  if (!size || octets.size() < size->size) {
    const bool may_be = !size || plausible(octets, *size, contrary).value_or(true);
    return may_be ? Verdict::kMoreOctets : Verdict::kNo;
  }
  if (!convincing(octets, *size, contrary)) return Verdict::kNo;
  if (octets.size() >= asked->size && convincing(octets, *asked, half.fpdus.track)) return Verdict::kNo;
  half.fpdus.track = contrary;
  return Verdict::kYes;
}

// Before the first FPDU both readings are looked at, each when it can say more.
std::size_t Walk::first_needed(const Half& half, std::size_t needed) const noexcept {
  if (!half.fpdus.at_the_beginning()) return needed;
  const Bytes octets = half.window.octets();
  if (octets.size() < mpa::kMarkerSize + kJudgedOctets) return 0;
  const auto contrary = extent(octets, half.fpdus.track.contrary());
  return contrary && contrary->size > octets.size() ? std::min(needed, contrary->size) : needed;
}

// `crc`: what the CRC says, if there is one.
bool Walk::tell_fpdu(Half& half, const Extent& size, CrcVerdict crc) {
  const Piece whole = piece(half, size.size);
  const std::uint64_t turn = half.window.turn(size.size - 1);
  half.turn.undecided = false;
  if (must_wait(half, turn)) return false;
  if (half.turn.in_order_again(turn)) {
    tell(ResumedSeen{whole.from, 0, whole.stream_offset, whole.first});
  }
  half.turn.go_on(turn, other(half).turn);
  auto& seen = std::get<FpduSeen>(queue_.emplace_back(std::in_place_type<FpduSeen>));
  seen.piece = whole;
  seen.number = ++half.fpdus.number;
  seen.mid_stream = half.fpdus.mid_stream;
  seen.guessed = half.fpdus.guessed(whole.stream_offset) && !half.fpdus.track.framing.crc;
  seen.may_be_nested = half.fpdus.may_be_nested;
  if (seen.may_be_nested) half.unread += whole.octets.size();
  half.fpdus.last_at = whole.stream_offset;
  seen.crc = half.fpdus.track.framing.crc ? crc : CrcVerdict::kNotInUse;
  reader_.read(size, half.fpdus.track, seen);
  half.fpdus.track = half.fpdus.track.behind(size.size);
  half.window.drop(size.size);
  return true;
}

}  // namespace weft::conformance
