// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/tcp_connection.hpp"

namespace weft::conformance::capture {
namespace {

ConnectionEnd in_words(const Endpoint& end) { return {in_words(end.address), end.port}; }

}  // namespace

TcpConnection::TcpConnection(std::size_t number, const TcpPacket& packet, std::int64_t time, BufferBudget& budget)
    : info_{.number = number,
            .path = in_words(packet.path),
            .first = in_words(source(packet)),
            .second = in_words(destination(packet)),
            .first_packet = packet.number,
            .first_time = time},
      first_end_(source(packet)),
      first_{.direction = {number, End::kFirst, budget}},
      second_{.direction = {number, End::kSecond, budget}} {}

bool TcpConnection::is_other(const TcpPacket& packet) const noexcept {
  if (!packet.header.syn) return false;
  const Half& from = half(sender(packet));
  const auto origin = from.direction.origin();
  if (origin) return *origin != packet.header.sequence + 1;
  return opened_;  // it has sent before, without a SYN
}

void TcpConnection::take(const TcpPacket& packet, std::int64_t time, EventQueue& out) {
  ++info_.packets;
  info_.last_packet = packet.number;
  info_.last_time = time;
  const End end = sender(packet);
  Half& from = half(end);
  Half& to = half(opposite(end));
  const TcpHeader& header = packet.header;
  if (header.syn) {
    from.syn_seen = true;
    if (header.mss) from.mss = header.mss;
  }
  if (!header.syn || header.rst || header.fin || packet.payload_size > 0) open(out);
  if (header.rst) return reset(from, to, packet, out);
  if (header.ack) {
    // An end whose own SYN was seen has not acknowledged more than the other's SYN by now.
    if (from.syn_seen && !to.direction.origin()) to.direction.begin_at(header.acknowledgement);
    to.direction.acknowledged(header.acknowledgement);
  }
  from.direction.take(packet, out);
  from.direction.doubt(packet.number, out);
  to.direction.doubt(packet.number, out);
}

// Once all SYNs have been seen that there will be: at the first packet that carries more than that.
void TcpConnection::open(EventQueue& out) {
  if (std::exchange(opened_, true)) return;
  out.push(info_.number, TcpOpened{first_.mss, second_.mss, first_.syn_seen || second_.syn_seen});
}

void TcpConnection::reset(Half& by, Half& other, const TcpPacket& packet, EventQueue& out) {
  if (!by.direction.plausible(packet.header.sequence)) return;
  for (Half* half : {&by, &other}) {
    half->direction.give_up(packet.number, out);
    half->direction.close(Closing::kReset, packet.number, out);
  }
}

void TcpConnection::finish(bool evicted, EventQueue& out) {
  open(out);
  first_.direction.give_up(info_.last_packet, out);
  second_.direction.give_up(info_.last_packet, out);
  out.push(info_.number, ConnectionOver{info_, evicted});
}

}  // namespace weft::conformance::capture
