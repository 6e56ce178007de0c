// SPDX-License-Identifier: Apache-2.0
// An exchange as the TCP events of a capture, whose packets are the parts of the exchange, numbered from 1.
#pragma once

#include <array>

#include "conformance/tcp_events.hpp"
#include "probe/exchange.hpp"

namespace weft::probe {

// The end that opened the connection sent the first packet.
[[nodiscard]] inline conformance::End end_of(const Exchange& exchange, bool peer) noexcept {
  return peer == exchange.peer_opened ? conformance::End::kFirst : conformance::End::kSecond;
}

// Passes each event to `take`.
template <typename Take>
void for_each_event(const Exchange& exchange, Take take) {
  using conformance::Closing;
  using conformance::End;
  take(conformance::TcpEvent(conformance::TcpOpened{.handshake_seen = true}));
  std::array<std::uint64_t, 2> offsets{};
  std::uint64_t packet = 0;
  for (const Part& part : exchange.parts) {
    ++packet;
    const End from = end_of(exchange, part.from_peer);
    std::uint64_t& offset = offsets[static_cast<std::size_t>(from)];
    if (part.kind == Part::kFin) {
      take(conformance::TcpEvent(conformance::TcpClosed{from, Closing::kFin, packet}));
    } else if (part.kind == Part::kReset) {
      take(conformance::TcpEvent(conformance::TcpClosed{End::kFirst, Closing::kReset, packet}));
      take(conformance::TcpEvent(conformance::TcpClosed{End::kSecond, Closing::kReset, packet}));
      return;
    } else {
      // No more can have arrived there than had been sent.
      take(conformance::TcpEvent(
          conformance::TcpOctets{.from = from,
                                 .octets = part.octets,
                                 .place = {packet, 0},
                                 .stream_offset = offset,
                                 .acknowledged = offsets[static_cast<std::size_t>(opposite(from))]}));
      offset += part.octets.size();
    }
  }
}

}  // namespace weft::probe
