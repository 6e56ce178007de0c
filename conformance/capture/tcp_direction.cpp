// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/tcp_direction.hpp"

#include <algorithm>

namespace weft::conformance::capture {
namespace {

// RFC 7323 section 2.3: nothing is sent further ahead, nor again from further back.
constexpr std::uint32_t kLargestWindow = 1U << 30;
// A sender of RST may be behind or ahead of what the capture shows, but not by much.
constexpr std::int64_t kResetReach = 1 << 26;

}  // namespace

// Sequence numbers wrap, stream offsets do not: the offset nearest to the one awaited. What is further back than a
// window cannot have been sent again, so it is ahead. Negative: before the beginning.
std::int64_t TcpDirection::position(std::uint32_t sequence) const noexcept {
  const std::uint32_t ahead = sequence - *origin_ - static_cast<std::uint32_t>(next_);
  const std::uint32_t back = 0U - ahead;
  const auto next = static_cast<std::int64_t>(next_);
  return back != 0 && back <= kLargestWindow ? next - back : next + ahead;
}

bool TcpDirection::may_begin_at(std::uint32_t sequence, std::uint32_t most) const noexcept {
  if (*origin_ == sequence) return true;
  return guessed_ && next_ == 0 && !has_hole() && *origin_ - sequence <= most;
}

std::optional<std::int64_t> TcpDirection::distance(std::uint32_t sequence) const noexcept {
  if (!origin_) return std::nullopt;
  return position(sequence) - static_cast<std::int64_t>(next_);
}

std::optional<std::uint64_t> TcpDirection::offset_of(std::uint32_t number) const noexcept {
  if (!origin_ || guessed_) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(position(number), 0));
}

bool TcpDirection::lacks(std::uint32_t number) const noexcept {
  if (!origin_ || closed_) return false;
  const std::int64_t end = position(number);
  const auto seen = static_cast<std::int64_t>(std::max(next_, given_up_));
  return end > seen && end - static_cast<std::int64_t>(next_) < kLargestWindow;
}

bool TcpDirection::plausible(std::uint32_t sequence) const noexcept {
  if (!origin_) return true;
  const std::int64_t distance = position(sequence) - static_cast<std::int64_t>(next_);
  return -kResetReach < distance && distance < kResetReach;
}

// The capture begins in mid-connection: the stream begins with the first octets that it shows.
bool TcpDirection::find_origin(const TcpPacket& packet) noexcept {
  const packet::TcpHeader& header = packet.header;
  if (origin_) return true;
  if (packet.payload_size == 0 && !header.fin) {
    if (header.ack) idle_at_ = header.sequence;
    return false;
  }
  // An octet that was sent before is a keep-alive (RFC 9293 section 3.8.4).
  if (packet.payload_size == 1 && idle_at_ && header.sequence == *idle_at_ - 1) return false;
  origin_ = header.sequence;
  return true;
}

void TcpDirection::take(const TcpPacket& packet, EventQueue& out) {
  const packet::TcpHeader& header = packet.header;
  if (header.syn) begin_at(header.sequence + 1);  // an octet of sequence space; payload may follow (RFC 7413)
  if (closed_ || !find_origin(packet)) return;
  const std::int64_t begin = position(header.syn ? header.sequence + 1 : header.sequence);
  if (!jump(begin, packet, out)) return;
  const std::int64_t end = begin + static_cast<std::int64_t>(packet.payload_size);
  if (packet.payload_size > 0) take_payload(begin, packet.payload_size, packet, out);
  if (header.fin && !fin_at_ && end >= static_cast<std::int64_t>(next_)) fin_at_ = static_cast<std::uint64_t>(end);
  settle(packet.number, out);
}

// Nothing is in flight further than a window. One segment beyond is a stray; when another follows on it, the capture
// has lost more than a window.
bool TcpDirection::jump(std::int64_t begin, const TcpPacket& packet, EventQueue& out) {
  if (begin - static_cast<std::int64_t>(next_) < kLargestWindow) return true;
  const std::uint32_t sequence = packet.header.sequence;
  const bool again = far_ && sequence != *far_ && sequence - *far_ < kLargestWindow;
  far_ = sequence;
  if (!again) return false;
  give_up(packet.number, out);
  if (closed_) return false;  // a FIN waited
  skip_hole(static_cast<std::uint64_t>(begin), packet.number, out);
  return true;
}

// Whether all that was captured of a segment waits already.
bool TcpDirection::held(std::int64_t begin, const TcpPacket& packet) const noexcept {
  std::int64_t end = begin;
  for (const Part& part : packet.payload) end += static_cast<std::int64_t>(part.octets.size());
  begin = std::max(begin, static_cast<std::int64_t>(next_));
  return begin < end && waiting_->holds(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
}

void TcpDirection::take_payload(std::int64_t begin, std::size_t size, const TcpPacket& packet, EventQueue& out) {
  const auto sent_end = begin + static_cast<std::int64_t>(size);
  if (sent_end <= 0) return;  // before the beginning
  auto end = static_cast<std::uint64_t>(sent_end);
  const bool waits = has_hole();
  // Also a keep-alive is: its octet was sent before (RFC 9293 section 3.8.4). One that was never seen is data.
  const bool seen = end <= next_ || (waits && held(begin, packet));
  if (begin >= 0) {
    out.push(connection_, TcpSegment{from_, packet.number, static_cast<std::uint64_t>(begin),
                                     static_cast<std::uint32_t>(size), seen});
  }
  if (fin_at_) end = std::min(end, *fin_at_);
  if (seen || end <= next_) return;
  if (!waits && begin <= static_cast<std::int64_t>(next_)) {
    take_in_order(next_ - static_cast<std::uint64_t>(begin), end, packet, out);
  } else {
    take_to_buffer(begin, end, packet, out);
  }
}

// Without a detour through the buffer, and without a copy. `skip`: octets at its front that are known.
void TcpDirection::take_in_order(std::uint64_t skip, std::uint64_t end, const TcpPacket& packet, EventQueue& out) {
  for (const Part& part : packet.payload) {
    const std::uint64_t known = std::min<std::uint64_t>(skip, part.octets.size());
    skip -= known;
    const Bytes fresh = part.octets.subspan(known, std::min<std::uint64_t>(part.octets.size() - known, end - next_));
    if (fresh.empty()) continue;
    const Place place{part.place.packet, part.place.octet + static_cast<std::uint32_t>(known)};
    out.push(connection_, TcpOctets{from_, fresh, place, next_, packet.acknowledged});
    next_ += fresh.size();
  }
  if (next_ < end) skip_hole(end, packet.number, out);  // the snap length cut it
}

void TcpDirection::take_to_buffer(std::int64_t begin, std::uint64_t end, const TcpPacket& packet, EventQueue& out) {
  if (!waiting_) waiting_ = std::make_unique<ReorderBuffer>(*origin_);
  for (const Part& part : packet.payload) {
    const auto known = static_cast<std::uint64_t>(std::clamp<std::int64_t>(
        static_cast<std::int64_t>(next_) - begin, 0, static_cast<std::int64_t>(part.octets.size())));
    const auto offset = static_cast<std::uint64_t>(begin + static_cast<std::int64_t>(known));
    begin += static_cast<std::int64_t>(part.octets.size());
    if (known == part.octets.size() || offset >= end) continue;
    const Bytes fresh = part.octets.subspan(known, std::min<std::uint64_t>(part.octets.size() - known, end - offset));
    waiting_->add(next_, offset, fresh, {part.place.packet, part.place.octet + static_cast<std::uint32_t>(known)},
                  packet.acknowledged);
  }
  const std::uint64_t cut =
      std::max<std::uint64_t>(next_, static_cast<std::uint64_t>(std::max<std::int64_t>(begin, 0)));
  if (cut < end) waiting_->add_cut(cut, end - cut);
  drain(packet.number, out);
  while (!waiting_->empty() && waiting_share_.exceeded()) {
    skip_hole(waiting_->first(), packet.number, out);
  }
}

void TcpDirection::drain(std::uint64_t packet, EventQueue& out) {
  if (!waiting_) return;
  next_ = waiting_->take(next_, connection_, from_, packet, out);
  waiting_share_.set(waiting_->cost());
}

// The octets before `to` do not come any more.
void TcpDirection::skip_hole(std::uint64_t to, std::uint64_t packet, EventQueue& out) {
  if (to > next_) out.push(connection_, TcpGap{from_, next_, to - next_, packet});
  next_ = std::max(next_, to);
  drain(packet, out);
}

void TcpDirection::settle(std::uint64_t packet, EventQueue& out) {
  if (fin_at_ && next_ >= *fin_at_) close(Closing::kFin, packet, out);
}

void TcpDirection::acknowledged(std::uint32_t number) noexcept {
  if (!origin_ || closed_) return;
  const std::int64_t position = this->position(number);
  const std::int64_t ahead = position - static_cast<std::int64_t>(next_);
  if (position < 0 || ahead >= kLargestWindow) return;
  acknowledged_ = static_cast<std::uint64_t>(position);
  if (fin_at_) acknowledged_ = std::min(acknowledged_, *fin_at_);  // a FIN is acknowledged as an octet
}

void TcpDirection::give_up_to(std::uint64_t offset, std::uint64_t packet, EventQueue& out) {
  given_up_ = std::max(given_up_, offset);
  if (fin_at_) offset = std::min(offset, *fin_at_);  // a FIN is acknowledged as an octet
  while (next_ < offset && !closed_) {
    if (!has_hole() && offset - next_ == 1) break;  // perhaps a FIN that was not captured
    skip_hole(has_hole() ? std::min(waiting_->first(), offset) : offset, packet, out);
  }
  settle(packet, out);
}

void TcpDirection::give_up(std::uint64_t packet, EventQueue& out) {
  if (closed_) return;
  while (has_hole()) skip_hole(waiting_->first(), packet, out);
  std::uint64_t end = acknowledged_ > next_ + 1 ? acknowledged_ : next_;  // one octet may be a FIN
  if (fin_at_) end = *fin_at_;
  skip_hole(end, packet, out);
  settle(packet, out);
}

void TcpDirection::close(Closing how, std::uint64_t packet, EventQueue& out) {
  if (std::exchange(closed_, true)) return;
  out.push(connection_, TcpClosed{from_, how, packet});
}

}  // namespace weft::conformance::capture
