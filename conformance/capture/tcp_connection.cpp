// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/tcp_connection.hpp"

#include <algorithm>
#include <iterator>

namespace weft::conformance::capture {
namespace {

ConnectionEnd in_words(const packet::Endpoint& end) { return {in_words(end.address), end.port}; }

// How long a packet waits for what it acknowledges. Within a direction packets hardly change their order, so packets
// after a hole prove it. The other direction alone proves nothing: it may be far ahead.
constexpr std::uint64_t kPatienceBehindHole = 64;      // packets of the direction with the hole: a window of them
constexpr std::uint64_t kPatienceAtHole = 256;         // packets of the connection, while there is a hole
constexpr std::uint64_t kPatienceForDirection = 4096;  // packets of the connection
constexpr std::int64_t kFar = 1 << 30;                 // no window reaches so far (RFC 7323 section 2.3): a stray
constexpr std::size_t kMostAhead = 64;                 // stretches after holes; the furthest are forgotten

// A peer's first SYN with data holds no more (RFC 7413): it fits into a segment.
constexpr std::uint32_t kMostWithSyn = 1U << 16;
constexpr std::size_t kLookedAt = 64;            // packets that wait, for the lowest acknowledgment
constexpr std::int64_t kUnscaledWindow = 65535;  // RFC 9293 section 3.1

bool has_octets(const TcpPacket& packet) noexcept { return packet.payload_size > 0 || packet.header.fin; }

}  // namespace

TcpConnection::TcpConnection(std::size_t number, const TcpPacket& packet, std::int64_t time, BufferBudget& budget)
    : info_{.number = number,
            .path = in_words(packet.path),
            .first = in_words(packet.source),
            .second = in_words(packet.destination),
            .first_packet = packet.number,
            .first_time = time},
      first_end_(packet.source),
      first_{.direction = {number, End::kFirst, budget}},
      second_{.direction = {number, End::kSecond, budget}},
      waiting_share_(budget) {}

bool TcpConnection::is_other(const TcpPacket& packet) const noexcept {
  const packet::TcpHeader& header = packet.header;
  if (!header.syn || header.rst) return false;
  const End end = sender(packet);
  const Half& from = half(end);
  const Half& to = half(opposite(end));
  // A SYN that was sent again comes before the end, so it is a new one even with the same number.
  if (closed() && from.syn_seen && !header.ack) return true;
  if (from.direction.origin()) return !from.direction.may_begin_at(header.sequence + 1, kMostWithSyn);
  // It answers the SYN that was seen.
  if (header.ack && to.syn_seen) return header.acknowledgement - *to.direction.origin() > kMostWithSyn;
  // An end has sent before, without a SYN; unless all of that follows on this one, which the capture has late.
  const auto follows = [&](std::uint32_t sequence) { return sequence - header.sequence <= kMostWithSyn; };
  return spoken_ && !(from.first_sequence && follows(*from.first_sequence));
}

bool TcpConnection::claims(const TcpPacket& packet) const noexcept {
  const packet::TcpHeader& header = packet.header;
  const End end = sender(packet);
  const auto sequence = half(end).direction.distance(header.sequence);
  const auto acknowledged =
      header.ack ? half(opposite(end)).direction.distance(header.acknowledgement) : std::optional<std::int64_t>{};
  constexpr std::int64_t kNear = 1 << 20;
  const auto far = [](const std::optional<std::int64_t>& distance) {
    return distance && (*distance < -kNear || *distance > kNear);
  };
  return (sequence || acknowledged) && !far(sequence) && !far(acknowledged);
}

void TcpConnection::take(const TcpPacket& packet, std::int64_t time, EventQueue& out) {
  ++info_.packets;
  info_.last_packet = packet.number;
  info_.last_time = time;
  const End end = sender(packet);
  Half& from = half(end);
  Half& to = half(opposite(end));
  note_arrival(from, to, packet);
  // A packet that knows no more than what was seen is older than those that wait, but a reset ends what they say.
  if ((from.waiting.empty() || !packet.header.rst) && !must_wait(from, to, packet)) {
    if (packet.header.ack) note_modest(from, packet.header.sequence);
    process(packet, out);
  } else {
    from.waiting.push(packet, info_.packets, to.beyond);
    count_waiting();
  }
  release(out);
}

// What a packet says at once, also one that waits: the SYN, and where each direction begins.
void TcpConnection::note_arrival(Half& from, Half& to, const TcpPacket& packet) {
  const packet::TcpHeader& header = packet.header;
  from.arrived = true;
  from.absent = false;
  if (header.syn) {
    from.syn_seen = true;
    if (header.mss) from.mss = header.mss;
    from.direction.begin_at(header.sequence + 1);  // an octet of sequence space; payload may follow (RFC 7413)
  } else {
    spoken_ = true;
    note_sequence(from, header.sequence);
  }
  if (header.ack && !header.rst) {
    // An end whose own SYN was seen has not acknowledged more than the other's SYN by now, and what came with it.
    if (from.syn_seen && !to.direction.origin()) to.direction.guess_origin(header.acknowledgement);
    to.direction.acknowledged(header.acknowledgement);
    note_sequence(to, header.acknowledgement);
  }
  const auto distance = from.direction.distance(header.syn ? header.sequence + 1 : header.sequence);
  if (!distance) return;
  join_captured(from);
  const std::int64_t begin = static_cast<std::int64_t>(from.direction.next()) + *distance;
  const std::int64_t end = begin + static_cast<std::int64_t>(packet.payload_size) + (header.fin ? 1 : 0);
  if (end < 0 || *distance >= kFar) return;
  note_octets(from, {.begin = static_cast<std::uint64_t>(std::max<std::int64_t>(begin, 0)),
                     .end = static_cast<std::uint64_t>(end),
                     .packets = info_.packets - 1,
                     .beyond = from.beyond});
}

void TcpConnection::note_sequence(Half& of, std::uint32_t sequence) noexcept {
  if (!of.first_sequence || static_cast<std::int32_t>(sequence - *of.first_sequence) < 0) of.first_sequence = sequence;
}

// A packet with a lower number was sent before, or again.
void TcpConnection::note_modest(Half& from, std::uint32_t sequence) const noexcept {
  if (from.modest_at > 0 && static_cast<std::int32_t>(sequence - from.modest_sequence) < 0) return;
  from.modest_at = info_.packets;
  from.modest_sequence = sequence;
}

// A packet behind this one, in the stream and in the capture, did not have to wait.
bool TcpConnection::need_not_wait(const Half& from, const WaitingPackets::Entry& entry) noexcept {
  const TcpPacket& packet = entry.kept.packet();
  const std::uint32_t end = packet.header.sequence + static_cast<std::uint32_t>(packet.payload_size);
  return from.modest_at > entry.since && static_cast<std::int32_t>(from.modest_sequence - end) >= 0;
}

// A stretch that overlaps others or follows on them becomes one with them, as old as the oldest. Also a packet without
// octets shows a hole.
void TcpConnection::note_octets(Half& from, Stretch stretch) {
  if (stretch.begin <= from.captured) {
    from.captured = std::max(from.captured, stretch.end);
    return join_captured(from);
  }
  ++from.beyond;
  auto first = std::ranges::lower_bound(from.ahead, stretch.begin, {}, &Stretch::end);
  auto last = first;
  for (; last != from.ahead.end() && last->begin <= stretch.end; ++last) {
    stretch.begin = std::min(stretch.begin, last->begin);
    stretch.end = std::max(stretch.end, last->end);
    stretch.packets = std::min(stretch.packets, last->packets);
    stretch.beyond = std::min(stretch.beyond, last->beyond);
  }
  from.ahead.insert(from.ahead.erase(first, last), stretch);
  if (from.ahead.size() > kMostAhead) from.ahead.pop_back();
}

void TcpConnection::join_captured(Half& from) noexcept {
  from.captured = std::max(from.captured, from.direction.next());
  auto joined = from.ahead.begin();
  for (; joined != from.ahead.end() && joined->begin <= from.captured; ++joined) {
    from.captured = std::max(from.captured, joined->end);
  }
  from.ahead.erase(from.ahead.begin(), joined);
}

// Whether it waits for octets that are missing after captured ones, and has done so for too long. Other holes, filled
// since or after what it acknowledges, prove nothing.
bool TcpConnection::waits_at_hole(const WaitingPackets::Entry& entry, Half& to) const noexcept {
  join_captured(to);
  const packet::TcpHeader& header = entry.kept.packet().header;
  const auto distance = header.ack ? to.direction.distance(header.acknowledgement) : std::nullopt;
  if (to.ahead.empty() || !distance) return false;
  if (static_cast<std::int64_t>(to.direction.next()) + *distance <= static_cast<std::int64_t>(to.captured))
    return false;
  const std::uint64_t beyond = std::ranges::min(to.ahead, {}, &Stretch::beyond).beyond;
  if (to.beyond - std::max(entry.beyond, beyond) >= kPatienceBehindHole) return true;
  const std::uint64_t packets = std::ranges::min(to.ahead, {}, &Stretch::packets).packets;
  return to.direction.has_hole() && info_.packets - std::max(entry.since, packets) >= kPatienceAtHole;
}

bool TcpConnection::must_wait(const Half& from, const Half& to, const TcpPacket& packet) const noexcept {
  if (to.absent) return false;
  // The SYN of the other end may be captured late; what it says is told with the first octets.
  if (!opened_ && from.syn_seen && !to.arrived && has_octets(packet)) return true;
  return packet.header.ack && to.direction.lacks(packet.header.acknowledgement);
}

bool TcpConnection::overdue(const Half& from, Half& to) const noexcept {
  if (waiting_share_.exceeded()) return true;
  const WaitingPackets::Entry& first = from.waiting.front();
  if (waits_at_hole(first, to)) return true;
  const std::uint64_t waited = info_.packets - first.waiting_since;
  if (waited < kPatienceForDirection) return false;
  to.absent = true;
  return true;
}

void TcpConnection::release(EventQueue& out) {
  for (bool again = true; std::exchange(again, false);) {
    for (const End end : {End::kFirst, End::kSecond}) {
      Half& from = half(end);
      Half& to = half(opposite(end));
      while (!from.waiting.empty()) {
        if (must_wait(from, to, from.waiting.front().kept.packet())) {
          if (!overdue(from, to)) break;
          release_first(from, to, out);
        } else {
          process(from.waiting.pop(out), out);
        }
        count_waiting();
        again = true;
      }
    }
  }
}

// Although what it acknowledges has not come: the capture has lost it. But a single acknowledgment that is higher than
// those after it is damaged, and says nothing; unless the capture ends and it is near enough to be still to come.
void TcpConnection::release_first(Half& from, Half& to, EventQueue& out, bool at_end) {
  const auto distance_of = [&to](const WaitingPackets::Entry& entry) {
    const packet::TcpHeader& header = entry.kept.packet().header;
    return header.ack ? to.direction.distance(header.acknowledgement) : std::nullopt;
  };
  std::optional<std::int64_t> least;
  const bool near = at_end && distance_of(from.waiting.front()).value_or(0) <= kUnscaledWindow;
  if (!near && need_not_wait(from, from.waiting.front())) least = 0;
  std::size_t looked_at = 0;
  for (const WaitingPackets::Entry& entry : from.waiting) {
    if (least && *least <= 0) break;
    const auto distance = distance_of(entry);
    if (distance && (!least || *distance < *least)) least = distance;
    if (++looked_at == kLookedAt) break;
  }
  if (least && *least > 0) {
    open(out);
    to.direction.give_up_to(to.direction.next() + static_cast<std::uint64_t>(*least), info_.last_packet, out);
  }
  process(from.waiting.pop(out), out);
}

void TcpConnection::process(TcpPacket packet, EventQueue& out) {
  const End end = sender(packet);
  Half& from = half(end);
  Half& to = half(opposite(end));
  const packet::TcpHeader& header = packet.header;
  // A number that no window reaches may mean that octets are missing.
  if (has_octets(packet) || header.rst || !from.direction.plausible(header.sequence)) open(out);
  if (doubted_reset_ && doubted_reset_->by == end && !header.rst) doubted_reset_.reset();
  if (header.rst) return reset(end, packet, out);
  if (header.ack) {
    packet.acknowledged = to.direction.offset_of(header.acknowledgement);
  } else if (header.syn) {
    packet.acknowledged = 0;  // the first of all: it has heard nothing
  }
  from.direction.take(packet, out);
}

void TcpConnection::count_waiting() noexcept { waiting_share_.set(first_.waiting.cost() + second_.waiting.cost()); }

// Once all SYNs have been seen that there will be: at the first packet that carries more than that.
void TcpConnection::open(EventQueue& out) {
  if (std::exchange(opened_, true)) return;
  TcpOpened opened{first_.mss, second_.mss, first_.syn_seen || second_.syn_seen, {}};
  if (first_.syn_seen != second_.syn_seen) opened.syn_missing = first_.syn_seen ? End::kSecond : End::kFirst;
  out.push(info_.number, opened);
}

// Certain when its number is the next one. Another one ends the connection if its end sends nothing any more.
void TcpConnection::reset(End end, const TcpPacket& packet, EventQueue& out) {
  Half& by = half(end);
  Half& other = half(opposite(end));
  if (!by.direction.plausible(packet.header.sequence)) return;
  const std::int64_t ahead = by.direction.distance(packet.header.sequence).value_or(0);
  const bool certain = ahead == 0 || (ahead == 1 && by.direction.closed());  // after a FIN
  while (!other.waiting.empty()) release_first(other, by, out);              // sent before the reset came
  if (certain) return close_by_reset(end, packet.number, out);
  if (!doubted_reset_) doubted_reset_ = Doubted{end, packet.number};
}

void TcpConnection::close_by_reset(End by, std::uint64_t packet, EventQueue& out) {
  for (Half* half : {&this->half(by), &this->half(opposite(by))}) {
    half->direction.give_up(packet, out);
    half->direction.close(Closing::kReset, packet, out);
  }
}

void TcpConnection::finish(bool evicted, EventQueue& out) {
  for (;;) {
    release(out);
    if (first_.waiting.empty() && second_.waiting.empty()) break;
    const auto number = [](const Half& half) {
      return half.waiting.empty() ? ~std::uint64_t{0} : half.waiting.front().kept.packet().number;
    };
    const bool first = number(first_) < number(second_);
    release_first(first ? first_ : second_, first ? second_ : first_, out, true);
    count_waiting();
  }
  open(out);
  if (doubted_reset_) close_by_reset(doubted_reset_->by, doubted_reset_->packet, out);
  first_.direction.give_up(info_.last_packet, out);
  second_.direction.give_up(info_.last_packet, out);
  out.push(info_.number, ConnectionOver{info_, evicted});
}

}  // namespace weft::conformance::capture
