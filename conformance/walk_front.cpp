// SPDX-License-Identifier: Apache-2.0
// The walk: where something of MPA has to begin and no key is. An end may send FPDUs without having sent its frame, or
// without the other end's; and what it sends where its frame belongs may be none.
#include <algorithm>

#include "conformance/walk.hpp"

namespace weft::conformance {

// The frame of the other end is there. This one's begins after it, unless the other's was the answer to what this end
// had sent last.
void Walk::note_front(Half& half, const WalkStartup::Span& answered) {
  if (half.phase != Phase::kSearching || half.startup.may_be_missing) return;
  const OctetWindow& window = half.window;
  const std::uint64_t end = window.begin() + window.all().size();
  const std::uint64_t run = std::clamp(half.run_begin, window.begin(), end);
  const bool asked = initiator_ == half.end && run < end &&
                     window.turn(static_cast<std::size_t>(run - window.begin())) < answered.turn;
  half.front = {.at = asked ? run : end, .sent_first = asked};
}

// Without a key there.
bool Walk::look_at_front(Half& half) {
  const WalkFront& front = half.front;
  if (front.at < half.window.begin() || half.window.end() <= front.at) return false;
  if (front.no_fpdu) return take_for_frame(half);
  if (half.window.end() < front.look_at && !cut(half)) return false;
  half.turn.undecided = false;
  const auto before = static_cast<std::size_t>(front.at - half.window.begin());
  Track track;
  Effort effort;
  const auto crc = known(half).crc;
  switch (fpdus_begin(half.window.octets().subspan(before), crc, cut(half), track, effort)) {
    case Verdict::kMoreOctets:
      half.turn.undecided = true;
      half.front.look_at = front.at + effort.needed;
      return false;
    case Verdict::kNo: half.front.no_fpdu = true; return take_for_frame(half);
    case Verdict::kYes: break;
  }
  if (!initiator_) set_initiator(End::kFirst, false);
  if (front.at > 0) tell(StreamingSeen{direction(half.end), front.at});
  half.window.drop(before);
  half.startup.base = half.window.begin();
  follow_from_here(half, track);
  return true;
}

// Both ends begin with MPA: there is no protocol before it whose octets these could be.
bool Walk::at_once(const Half& half) const noexcept {
  const auto& peer = other(half).startup.span;
  return peer && peer->begin == 0 && half.front.at == 0;
}

// The other end has sent its frame, so this one has sent its own, with a key that does not even resemble one. A Request
// is what the other end has answered; a Reply is what the Initiator is waiting for (MPA-7.1.1-02, MPA-7.1.1-04).
bool Walk::take_for_frame(Half& half) {
  if (!other(half).startup.span) return false;
  const auto before = static_cast<std::size_t>(half.front.at - half.window.begin());
  const bool no_key_comes = at_once(half) && (cut(half) || half.window.size() - before > kKeptOfSearch);
  if (!half.front.sent_first && !no_key_comes) return false;
  return begin_startup(half, {before, initiator_ == half.end ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply});
}

// After the frame of this end, and there is none of the other that says how FPDUs are framed. None may be sent, but if
// they are, they begin here.
bool Walk::begin_unagreed(Half& half) {
  const Half& peer = other(half);
  const Bytes octets = half.window.octets();
  if (octets.empty()) return false;
  const bool here = !peer.startup.may_be_missing && half.startup.base == half.window.begin();
  Track track;
  Effort effort;
  const Verdict verdict = here ? fpdus_begin(octets, known(half).crc, cut(half), track, effort) : Verdict::kNo;
  if (verdict == Verdict::kMoreOctets) {
    half.turn.undecided = true;
    half.needed = effort.needed;
    return false;
  }
  if (half.startup.rejected) {
    half.phase = Phase::kIgnoring;
    return true;
  }
  if (verdict == Verdict::kYes) {
    follow_from_here(half, track);
    return true;
  }
  // What may still come of the other end may explain it.
  const bool told = here && initiator_ == half.end && (finished_ || (peer.stop.closed && !peer.stop.gap));
  lose(half, told ? std::optional(LossReason::kNotAnFpdu) : std::nullopt);
  return true;
}

void Walk::follow_from_here(Half& half, const Track& track) {
  half.fpdus.track = track;
  half.phase = Phase::kFollowing;
  half.turn.undecided = false;
  half.window.hide();
}

}  // namespace weft::conformance
