// SPDX-License-Identifier: Apache-2.0
// The walk: finding the startup frame of a direction, reading it, and waiting for the other one, since the framing is
// what both frames agree on.
#include <algorithm>

#include "conformance/walk.hpp"

namespace weft::conformance {

bool Walk::search(Half& half) {
  const Bytes octets = half.window.octets();
  if (octets.empty()) return false;
  if (const auto key = find_key(octets)) return begin_startup(half, *key);
  if (half.startup.may_be_missing && octets.size() < mpa::kKeySize && !cut(half)) return false;
  if (half.startup.may_be_missing) return search_inside(half);
  if (look_at_front(half)) return true;
  if (half.turn.undecided) return false;
  if (half.stop.at_fin() && cut(half)) {
    if (const auto key = find_cut_key(octets)) return begin_startup(half, *key);
  }
  if (half.window.end() > kSearched) {
    half.phase = Phase::kIgnoring;
    return true;
  }
  const bool kept = at_once(half) && half.front.at >= half.window.begin();
  if (octets.size() > kKeptOfSearch && !kept) half.window.drop(octets.size() - kKeptOfSearch);
  return false;
}

// The capture may have begun after the startup frames.
bool Walk::search_inside(Half& half) {
  lose(half, {});
  return true;
}

bool Walk::begin_startup(Half& half, const KeyFound& key) {
  if (!initiator_ || !roles_known_) {
    set_initiator(key.kind == mpa::FrameKind::kRequest ? half.end : opposite(half.end), true);
  }
  const std::uint64_t before = half.window.begin() + key.at;
  if (before > 0) tell(StreamingSeen{direction(half.end), before});
  half.window.drop(key.at);
  half.turn.undecided = false;
  half.phase = Phase::kStartup;
  return true;
}

void Walk::set_initiator(End end, bool known) {
  initiator_ = end;
  roles_known_ = known;
  for (const TcpSegment& segment : segments_) tell(SegmentSeen{direction(segment.from), segment});
  segments_.clear();
  // Its search may have been given up for the octets of a long time before MPA.
  Half& peer = other(half(end));
  if (peer.phase == Phase::kIgnoring && !peer.startup.flags) peer.phase = Phase::kSearching;
}

bool Walk::startup(Half& half) {
  const Bytes octets = half.window.octets();
  if (octets.size() < mpa::kFixedFrameSize) return startup_cut_short(half);
  const bool initiator = initiator_ == half.end;
  const auto expected = initiator ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply;
  auto frame = mpa::parse_startup_frame(octets, expected);
  const StartupFlags flags = startup_flags(octets);
  const std::size_t size = startup_size(octets);
  if (!frame && (frame.error() == mpa::Fault::kBadKey || frame.error() == mpa::Fault::kRoleClash)) {
    const auto repaired = RepairedFrame(octets, expected).parse();
    if (repaired && !*repaired) return startup_cut_short(half);
    if (!repaired) frame = std::unexpected(frame.error());
  }
  if (frame && !*frame) return startup_cut_short(half);
  const bool too_long = size > mpa::kMaxStartupFrameSize;
  if (!too_long && octets.size() < size) return startup_cut_short(half);  // whatever else is wrong with it
  const std::size_t shown = too_long ? mpa::kFixedFrameSize : size;
  StartupSeen seen{.piece = piece(half, shown), .frame = std::unexpected(mpa::Fault::kBadKey)};
  if (frame) {
    seen.frame = **frame;
  } else {
    seen.frame = std::unexpected(frame.error());
  }
  tell(seen);
  const bool readable = frame || resembles_key(octets) || resembles_fixed_part(octets);
  half.startup.span = {seen.piece.stream_offset, seen.piece.end(), half.window.turn(0)};
  note_front(other(half), *half.startup.span);
  if (!readable) {  // its flags mean nothing
    half.window.drop(mpa::kFixedFrameSize);
    lose(half, {});
    return true;
  }
  leave_startup(half, shown, flags);
  if (too_long) lose(half, {});  // where it ends is not known
  if (too_long) half.startup.base.reset();
  return true;
}

// Not all of the frame is there. A FIN says that more will never come (MPA-7.1.1-23).
bool Walk::startup_cut_short(Half& half) {
  if (!cut(half) || !half.stop.at_fin()) return false;
  tell(StartupSeen{piece(half, half.window.size()), std::unexpected(mpa::Fault::kStartupCutShort)});
  half.window.drop(half.window.size());
  half.phase = Phase::kIgnoring;
  return true;
}

void Walk::leave_startup(Half& half, std::size_t size, const StartupFlags& flags) {
  half.startup.flags = flags;
  half.startup.base = half.window.begin() + size;
  half.window.drop(std::min(size, half.window.size()));
  half.phase = Phase::kWaiting;
  if (initiator_ != half.end && flags.reject) half.startup.rejected = other(half).startup.rejected = true;
}

// MPA-7.1.1-07, MPA-7.1.1-08, MPA-7.1.1-11: Markers as the other end asked, CRC as either asked.
bool Walk::wait_for_framing(Half& half) {
  const Half& peer = other(half);
  if (const auto& asked = peer.startup.flags) {
    half.fpdus.track = {{.crc = half.startup.flags->crc || asked->crc, .markers = asked->markers}, 0};
    half.phase = Phase::kFollowing;
    half.window.hide();
    return true;
  }
  const bool never = peer.phase != Phase::kSearching && peer.phase != Phase::kStartup;
  const bool too_many = half.window.size() > kMostWaiting;
  if (never || too_many || finished_ || half.stop.gap || (half.stop.closed && peer.stop.closed)) {
    half.phase = Phase::kUnagreed;
    half.window.hide();
    return true;
  }
  half.turn.held = !half.window.empty() || half.stop.closed;
  return false;
}

}  // namespace weft::conformance
