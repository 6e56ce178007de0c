// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/reading.hpp"

namespace weft::tools::dissect {

using conformance::ConnectionOver;
using conformance::TcpEvent;
using conformance::TcpSegment;

void Reading::take(const conformance::Packet& packet) {
  tcp_.take(packet);
  drain();
}

void Reading::finish() {
  tcp_.finish();
  drain();
}

void Reading::drain() {
  while (const auto event = tcp_.next()) take(*event);
}

void Reading::take(const conformance::ConnectionEvent& event) {
  Connection& connection = connections_.try_emplace(event.connection, conformance::TlsLayer(keys_)).first->second;
  const Watched watched{event.connection, connection.walk, connection.info};
  if (const auto* tcp = std::get_if<TcpEvent>(&event.event)) {
    if (const auto* info = tcp_.info(event.connection); info != nullptr && connection.info.first.address.empty())
      connection.info = *info;
    connection.tls.feed(*tcp);
    return show(watched, connection);
  }
  connection.info = std::get<ConnectionOver>(event.event).info;
  connection.tls.finish();
  show(watched, connection);
  connection.walk.finish();
  show(watched, connection);
  note_tls(connection);
  iwarp_ = iwarp_ || connection.walk.iwarp();
  watcher_.over(watched);
  connections_.erase(event.connection);
}

void Reading::show(const Watched& watched, Connection& connection) {
  const auto tell = [&] {
    while (const auto* seen = connection.walk.next()) watcher_.seen(watched, *seen);
  };
  while (const TcpEvent* clear = connection.tls.next()) {
    note_segment(watched, connection, *clear);
    connection.walk.feed(*clear);
    tell();
  }
  tell();
}

// Inside TLS the octets in clear of a packet stand for its segment.
void Reading::note_segment(const Watched& watched, const Connection& connection, const TcpEvent& clear) {
  if (const auto* segment = std::get_if<TcpSegment>(&clear)) watcher_.segment(watched, *segment);
  const auto* octets = connection.tls.tls() == nullptr ? nullptr : std::get_if<conformance::TcpOctets>(&clear);
  if (octets == nullptr) return;
  watcher_.segment(watched, {.from = octets->from,
                             .packet = octets->place.packet,
                             .stream_offset = octets->stream_offset,
                             .size = static_cast<std::uint32_t>(octets->octets.size())});
}

void Reading::note_tls(const Connection& connection) {
  const auto* const facts = connection.tls.tls();
  const bool whole = facts == nullptr || (facts->hidden.empty() && connection.walk.iwarp());
  const bool first = !tls_ || (facts != nullptr && facts->keyed && !tls_->facts.keyed);
  if (!whole && first) tls_ = {connection.info, *facts};
}

}  // namespace weft::tools::dissect
