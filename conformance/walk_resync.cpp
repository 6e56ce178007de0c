// SPDX-License-Identifier: Apache-2.0
// The walk: when the FPDUs of a direction cannot be followed, and finding them again.
#include "conformance/walk.hpp"

namespace weft::conformance {

// `told`: with a reason when it is worth telling; a capture that begins in mid-connection has lost nothing.
void Walk::lose(Half& half, std::optional<LossReason> told) {
  half.lost_at = half.window.begin();
  half.told_lost = told.has_value();
  if (told) tell(LostSeen{direction(half.end), *told, half.window.begin(), half.window.place(0)});
  // What was followed begins no FPDU, so the search goes on behind it. Before the first FPDU, PD_Length may be what is
  // wrong, and then the beginning of the stream is unknown.
  const std::size_t skip = half.number == 0 ? 1 : 4;
  if (told && half.number == 0) half.base.reset();
  if (told && half.window.size() >= skip) half.window.drop(skip);
  half.phase = Phase::kLost;
  half.needed = 0;
  half.resync = {};
  half.found.reset();
  half.look_at = kNever;
  half.window.hide();
  half.undecided = !half.window.all().empty();
}

// What the startup frames say holds. Where the beginning of the FPDU stream is known, so is where FPDUs and Markers can
// be, also behind a gap: stream offsets count what the capture lost.
Known Walk::known(const Half& half) const noexcept {
  Known result;
  const auto& own = half.flags;
  const auto& peer = other(half).flags;
  if ((own && own->crc) || (peer && peer->crc)) result.crc = true;
  if (own && peer && !result.crc) result.crc = false;
  if (peer) result.markers = peer->markers;
  if (half.number > 0 && half.base) result.markers = half.track.framing.markers;  // as it was, whatever was asked for
  if (half.base && half.window.begin() >= *half.base) result.position = half.window.begin() - *half.base;
  return result;
}

bool Walk::regain(Half& half) {
  half.look_at = kNever;
  if (half.found) return resume_in_order(half);
  if (half.window.empty()) {
    half.undecided = false;
    return false;
  }
  const Regained regained = half.resync.scan(half.window.octets(), known(half), cut(half));
  if (startup_may_come(half)) {
    if (const auto key = find_key(half.window.octets()); key && key->at <= regained.skip) {
      return begin_startup(half, *key);
    }
  }
  const std::size_t may_be_key = half.flags || cut(half) || regained.found ? 0 : mpa::kKeySize - 1;
  const std::size_t kept = std::min(regained.skip, may_be_key);
  half.window.drop(regained.skip - kept);
  half.found = regained.found;
  if (half.found) return resume_in_order(half);
  const bool searching = !half.flags && half.number == 0;
  if (searching && half.window.begin() - half.lost_at > kGivenUp) {
    half.phase = Phase::kIgnoring;
    half.undecided = false;
    return true;
  }
  half.undecided = !half.window.empty() && !cut(half);
  const bool key_may_end = searching && half.window.size() < 2 * mpa::kKeySize;
  half.needed = key_may_end ? 0 : kept + regained.needed;
  return false;
}

bool Walk::resume_in_order(Half& half) {
  half.undecided = false;
  if (must_wait(half, half.window.place(0).packet)) return false;
  resume(half, *half.found);
  half.found.reset();
  return true;
}

void Walk::resume(Half& half, const Track& track) {
  if (!initiator_) set_initiator(End::kFirst, false);
  const std::uint64_t skipped = half.window.begin() - half.lost_at;
  const bool first = half.number == 0;
  if (half.told_lost || skipped > 0 || first) {
    tell(ResumedSeen{direction(half.end), skipped, half.window.begin(), half.window.place(0)});
  }
  half.guessed = !track.framing.markers && !known(half).markers;
  half.guessed_at = half.window.begin();
  half.track = track;
  half.mid_stream = true;
  half.phase = Phase::kFollowing;
}

}  // namespace weft::conformance
