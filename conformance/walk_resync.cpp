// SPDX-License-Identifier: Apache-2.0
// The walk: when the FPDUs of a direction cannot be followed, and finding them again.
#include "conformance/walk.hpp"

namespace weft::conformance {

// `told`: with a reason when it is worth telling; a capture that begins in mid-connection has lost nothing.
void Walk::lose(Half& half, std::optional<LossReason> told) {
  half.search = {.lost_at = half.window.begin(),
                 .since = half.window.begin(),
                 .told = told.has_value(),
                 .uncaptured = told != LossReason::kNotAnFpdu && half.startup.may_be_missing};
  if (told) {
    tell(LostSeen{direction(half.end), *told, half.window.begin(), half.window.place(0), key_here(half),
                  half.window.acknowledged(0)});
  }
  // What was followed begins no FPDU, so the search goes on after it. Before the first FPDU, PD_Length may be what is
  // wrong, and then the beginning of the stream is unknown.
  const std::size_t skip = half.fpdus.least_skip();
  if (told && half.fpdus.number == 0) half.startup.base.reset();
  if (told && half.window.size() >= skip) half.window.drop(skip);
  half.phase = Phase::kLost;
  half.needed = 0;
  half.window.hide();
  half.turn.undecided = !half.window.all().empty();
}

// A second frame, say.
std::optional<mpa::FrameKind> Walk::key_here(const Half& half) noexcept {
  const Bytes octets = half.window.octets();
  if (octets.size() < mpa::kKeySize) return std::nullopt;
  const auto key = find_key(octets.first(mpa::kKeySize));
  return key ? std::optional(key->kind) : std::nullopt;
}

// What the startup frames say holds. Where the beginning of the FPDU stream is known, so is where FPDUs and Markers can
// be, also after a gap: stream offsets count what the capture lost.
Known Walk::known(const Half& half) const noexcept {
  Known result;
  const auto& own = half.startup.flags;
  const auto& peer = other(half).startup.flags;
  if ((own && own->crc) || (peer && peer->crc)) result.crc = true;
  if (own && peer && !result.crc) result.crc = false;
  if (peer) result.markers = peer->markers;
  // As it was, whatever was asked for, unless that was a guess.
  const bool guessed = half.fpdus.guessed();
  if (half.fpdus.number > 0 && half.startup.base && !guessed) result.markers = half.fpdus.track.framing.markers;
  result.position = half.startup.position_of(half.window.begin());
  return result;
}

bool Walk::regain(Half& half) {
  half.search.look_at = WalkSearch::kNever;
  if (half.search.found) return prove(half);
  if (half.window.empty()) {
    half.turn.undecided = false;
    return false;
  }
  const Regained regained = half.search.resync.scan(half.window.octets(), known(half), cut(half));
  if (half.startup_may_come()) {
    const auto key = find_key(half.window.octets());
    if (key && key->at <= regained.skip && half.window.begins_packet(key->at)) {
      return begin_startup(half, *key);
    }
  }
  const std::size_t may_be_key = half.startup.flags || cut(half) || regained.found ? 0 : mpa::kKeySize - 1;
  const std::size_t kept = std::min(regained.skip, may_be_key);
  half.window.drop(regained.skip - kept);
  if (regained.found) {
    half.search.found = half.search.reached = *regained.found;
    half.search.followed = half.search.packets = 0;
    return prove(half);
  }
  const bool searching = half.startup_may_come();
  if (searching && half.window.begin() - half.search.lost_at > kGivenUp) {
    half.phase = Phase::kIgnoring;
    half.search.given_up = true;
    half.turn.undecided = false;
    return true;
  }
  half.turn.undecided = !half.window.empty() && !cut(half);
  const bool key_may_end = searching && half.window.size() < 2 * mpa::kKeySize;
  half.needed = key_may_end ? 0 : kept + regained.needed;
  return false;
}

namespace {

// Markers at known places tell where the FPDU of the stream begins, and not where one in its payload does.
bool has_own_marker(Bytes octets, const Track& track) noexcept {
  return track.framing.markers && markers_that_agree(octets, *extent(octets, track), track).value_or(0) > 0;
}

}  // namespace

// FPDUs may be the payload of another one, such as those of a capture that is sent as a file. The capture lacks its
// header, so they break off before the longest FPDU would end: in the middle of one, or with the CRC of the other one.
// Packets that begin with them are a coincidence.
bool Walk::prove(Half& half) {
  WalkSearch& search = half.search;
  const bool first = half.startup.base == half.window.begin();
  const bool doubtful = !search.told || search.uncaptured || half.fpdus.nesting;
  if (doubtful && !first && !search.proven && !follow_found(half)) return false;
  search.proven = true;
  return resume_in_order(half);
}

// False: more octets are needed.
bool Walk::follow_found(Half& half) {
  WalkSearch& search = half.search;
  const Bytes octets = half.window.octets();
  const std::uint64_t longest = search.since + mpa::kMaxFpduSize;
  Effort effort;
  while (half.window.begin() + search.followed < longest && (search.packets < 2 || half.fpdus.nesting)) {
    const std::size_t at = search.followed;
    const Track track = search.reached;
    const Verdict verdict = row_goes_on(octets, search.followed, search.reached, cut(half), effort);
    if (verdict == Verdict::kMoreOctets) {
      half.turn.undecided = true;
      half.needed = effort.needed;
      return false;
    }
    if (verdict == Verdict::kNo) {
      // A Marker that nothing announced breaks it off, too.
      if (known(half).markers || search.found->framing.markers) half.fpdus.nesting = true;
      search.may_be_nested = true;
      break;
    }
    if (search.followed == at) {
      judge_cut_row(half);
      break;
    }
    if (half.window.begins_packet(at)) ++search.packets;
    if (known(half).position && has_own_marker(octets.subspan(at), track)) break;
  }
  return true;
}

// Neither proves anything: an FPDU that a FIN cuts, and one that begins somewhere in a packet.
void Walk::judge_cut_row(Half& half) {
  WalkSearch& search = half.search;
  const Bytes rest = half.window.octets().subspan(search.followed);
  const bool whole = half.stop.at_fin() && rest.empty();
  if (swallows_fpdus(rest, {.track = search.reached, .number = half.fpdus.number})) half.fpdus.nesting = true;
  search.may_be_nested = !whole && (half.fpdus.nesting || half.stop.at_fin() || !half.window.begins_packet(0));
}

bool Walk::resume_in_order(Half& half) {
  half.turn.undecided = false;
  if (must_wait(half, half.window.turn(0))) return false;
  resume(half, *half.search.found);
  half.search.found.reset();
  return true;
}

void Walk::resume(Half& half, const Track& track) {
  if (!initiator_) set_initiator(End::kFirst, false);
  const std::uint64_t skipped = half.window.begin() - half.search.lost_at;
  if (half.search.uncaptured) half.unread += skipped;
  const bool first = half.fpdus.number == 0;
  if (half.search.told || skipped > 0 || first) {
    tell(ResumedSeen{direction(half.end), skipped, half.window.begin(), half.window.place(0)});
  }
  const bool guessed = !known(half).markers && !(track.framing.markers && track.framing.crc);
  half.fpdus.guessed_at = guessed ? std::optional(half.window.begin()) : std::nullopt;
  half.fpdus.track = track;
  half.fpdus.mid_stream = true;
  half.fpdus.may_be_nested = half.search.may_be_nested;
  half.phase = Phase::kFollowing;
}

}  // namespace weft::conformance
