// SPDX-License-Identifier: Apache-2.0
// The walk: from one FPDU to the next.
#include "conformance/plausible.hpp"
#include "conformance/walk.hpp"

namespace weft::conformance {

// An FPDU begins where the one before it ended, and its length tells where it ends.
bool Walk::follow(Half& half) {
  const Bytes octets = half.window.octets();
  if (octets.empty()) return false;
  if (other_framing(half)) return true;
  const auto size = extent(octets, half.track);
  if (!size || octets.size() < size->size) {
    half.undecided = false;
    if (cut(half)) return follow_cut(half);
    half.needed = half.number == 0 ? 0 : size ? size->size : mpa::kMarkerSize + mpa::kLengthSize;
    return false;
  }
  if (convincing(octets, *size, half.track)) return tell_fpdu(half, *size);
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
    case Verdict::kYes: return tell_fpdu(half, size);
    case Verdict::kNo: lose(half, LossReason::kNotAnFpdu); return true;
    case Verdict::kMoreOctets: break;
  }
  half.undecided = true;
  half.needed = half.number == 0 ? 0 : size.size + effort.needed;
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
bool Walk::other_framing(Half& half) {
  if (half.number != 0 || half.mid_stream || half.track.position != 0) return false;
  const Bytes octets = half.window.octets();
  const auto asked = extent(octets, half.track);
  if (!asked || plausible(octets, *asked, half.track).value_or(true)) return false;
  Track contrary = half.track;
  contrary.framing.markers = !contrary.framing.markers;
  const auto size = extent(octets, contrary);
  if (!size || octets.size() < size->size || !convincing(octets, *size, contrary)) return false;
  if (octets.size() >= asked->size && convincing(octets, *asked, half.track)) return false;
  half.track = contrary;
  return true;
}

bool Walk::tell_fpdu(Half& half, const Extent& size) {
  const Piece whole = piece(half, size.size);
  half.undecided = false;
  if (must_wait(half, whole.last.packet)) return false;
  if (half.late_until && whole.last.packet > *half.late_until) {
    half.late_until.reset();
    tell(ResumedSeen{whole.from, 0, whole.stream_offset, whole.first});
  }
  if (half.overtaken) half.late_until = other(half).last_packet;
  half.overtaken = false;
  FpduSeen seen = reader_.read(whole.octets, size, half.track);
  seen.piece = whole;
  seen.number = ++half.number;
  seen.mid_stream = half.mid_stream;
  half.last_packet = whole.last.packet;
  half.track = half.track.behind(size.size);
  half.window.drop(size.size);
  if (half.guessed && half.window.begin() - half.guessed_at >= 2 * mpa::kMarkerPeriod) half.guessed = false;
  tell(seen);
  return true;
}

}  // namespace weft::conformance
