// SPDX-License-Identifier: Apache-2.0
#include "conformance/walk.hpp"

namespace weft::conformance {
namespace {

constexpr std::size_t kMostSegments = 64;  // that are remembered while the roles are not known

}  // namespace

void Walk::feed(const TcpEvent& event) {
  std::visit([this](const auto& e) { on(e); }, event);
}

void Walk::on(const TcpOpened& opened) {
  for (Half& half : halves_) {
    half.startup.may_be_missing = !opened.handshake_seen || opened.syn_missing == half.end;
  }
}

void Walk::on(const TcpSegment& segment) {
  if (initiator_) return tell(SegmentSeen{direction(segment.from), segment});
  if (segments_.size() == kMostSegments) segments_.erase(segments_.begin());
  segments_.push_back(segment);
}

void Walk::on(const TcpOctets& octets) {
  Half& sender = half(octets.from);
  if (last_from_ != octets.from && !octets.octets.empty()) {
    sender.run_begin = octets.stream_offset;
    last_from_ = octets.from;
  }
  if (!sender.stop.near()) sender.window.append(octets, ++turns_);
}

void Walk::on(const TcpGap& gap) {
  half(gap.from).stop.gap = gap;
  half(gap.from).missing += gap.size;
}

void Walk::on(const TcpClosed& closed) {
  Half& ended = half(closed.from);
  if (!ended.stop.closed) ended.stop.closed = closed;
}

const Seen* Walk::next() {
  if (told_ == queue_.size()) {
    queue_.clear();
    told_ = 0;
    while (queue_.empty()) {
      if (advance() || show_more()) continue;
      for (Half& half : halves_) half.window.keep();
      if (!finished_ || over_told_) return nullptr;
      over_told_ = true;
      tell(CaptureOver{});
    }
  }
  return &queue_[told_++];
}

// The direction whose octets came first goes first.
bool Walk::advance() {
  Half& first = half(End::kFirst);
  Half& second = half(End::kSecond);
  const bool second_is_older =
      !second.window.all().empty() && !first.window.all().empty() && second.window.turn(0) < first.window.turn(0);
  Half& older = second_is_older ? second : first;
  return step(older) || step(other(older));
}

bool Walk::step(Half& half) {
  if (half.stop.end_told) return false;
  half.turn.held = false;
  if (due(half) && step_phase(half)) {
    half.needed = 0;
    return true;
  }
  if (half.turn.held || half.window.hidden() > 0) return false;
  if (half.stop.gap) return apply_gap(half);
  return tell_end(half);
}

bool Walk::step_phase(Half& half) {
  switch (half.phase) {
    case Phase::kSearching: return search(half);
    case Phase::kStartup: return startup(half);
    case Phase::kWaiting: return wait_for_framing(half);
    case Phase::kUnagreed: return begin_unagreed(half);
    case Phase::kFollowing: return follow(half);
    case Phase::kLost: return regain(half);
    case Phase::kIgnoring: half.window.restart(half.window.begin() + half.window.all().size()); return false;
  }
  return false;
}

// While the other direction is undecided about octets that came before `turn`, this one waits: rules on Requests and
// Responses need both in order. But not forever; what comes too late then is told as such (late_until).
bool Walk::must_wait(Half& half, std::uint64_t turn) {
  Half& undecided = other(half);
  if (!undecided.turn.undecided || undecided.window.all().empty() || finished_ || half.stop.gap) return false;
  if (undecided.turn.overtaken || undecided.window.turn(0) >= turn) return false;
  if (half.window.size() > kMostWaiting) {
    undecided.turn.overtaken = true;
    return false;
  }
  return half.turn.held = true;
}

// With those of a loss after which no FPDU was found.
std::uint64_t Walk::unread(End end) const noexcept {
  const Half& sender = half(end);
  const bool lost = (sender.phase == Phase::kLost || sender.search.given_up) && sender.search.uncaptured;
  if (!lost) return sender.unread;
  return sender.unread + sender.window.begin() + sender.window.all().size() - sender.search.lost_at;
}

std::optional<std::uint64_t> Walk::unfinished_frame(End end) const noexcept {
  const Half& sender = half(end);
  if (sender.phase != Phase::kStartup) return std::nullopt;
  return sender.window.place(0).packet;
}

Piece Walk::piece(const Half& half, std::size_t size) const noexcept {
  return {.from = direction(half.end),
          .stream_offset = half.window.begin(),
          .octets = half.window.octets().first(size),
          .first = half.window.place(0),
          .last = half.window.place(size == 0 ? 0 : size - 1),
          .acknowledged = half.window.acknowledged(0)};
}

}  // namespace weft::conformance
