// SPDX-License-Identifier: Apache-2.0
// The walk: octets that the capture lost, and the end of a direction.
#include "conformance/walk.hpp"

namespace weft::conformance {

// What was in front of the gap has been looked at. A startup frame or FPDU that it cut is lost.
bool Walk::apply_gap(Half& half) {
  const TcpGap gap = *half.stop.gap;
  half.stop.gap.reset();
  const Phase phase = half.phase;
  const bool known_end = phase == Phase::kStartup && half.window.size() >= mpa::kFixedFrameSize;
  if (known_end) leave_startup(half, startup_size(half.window.octets()), startup_flags(half.window.octets()));
  const bool followed =
      phase == Phase::kFollowing || phase == Phase::kWaiting || phase == Phase::kUnagreed || phase == Phase::kStartup;
  if (followed) {
    tell(LostSeen{direction(half.end), LossReason::kCaptureGap, half.window.end(),
                  half.window.place(half.window.size()), std::nullopt, std::nullopt});
  }
  half.window.restart(gap.stream_offset + gap.size);
  half.startup.may_be_missing = true;
  half.search.uncaptured = true;
  if (phase == Phase::kSearching) half.unread += gap.size;
  half.search.since = half.window.begin();
  half.needed = 0;
  if (!followed) return true;
  lose(half, {});
  half.search.told = true;
  half.search.lost_at = gap.stream_offset;
  return true;
}

bool Walk::tell_end(Half& half) {
  if (!half.stop.closed || half.stop.end_told || !initiator_) return false;
  half.stop.end_told = true;
  half.turn.undecided = false;
  // The last FPDU of a stream that may have Markers may be longer than it seems.
  const bool followed = half.phase == Phase::kFollowing && !half.fpdus.guessed() && !half.fpdus.may_be_nested;
  const bool begun = followed && !half.window.empty() && !half.startup.rejected;
  tell(EndSeen{.from = direction(half.end),
               .how = half.stop.closed->how,
               .packet = half.stop.closed->packet,
               .unfinished = begun ? half.window.size() : 0,
               .unfinished_at = begun ? half.window.place(0) : Place{half.stop.closed->packet, 0},
               .unfinished_offset = half.window.begin(),
               .unfinished_acknowledged = begun ? half.window.acknowledged(0) : std::nullopt});
  return true;
}

}  // namespace weft::conformance
