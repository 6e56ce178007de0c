// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/reading.hpp"

namespace weft::tools::dissect {

using conformance::ConnectionOver;
using conformance::TcpEvent;

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
  Connection& connection = connections_[event.connection];
  const Watched watched{event.connection, connection.walk, connection.info};
  if (const auto* tcp = std::get_if<TcpEvent>(&event.event)) {
    if (const auto* info = tcp_.info(event.connection); info != nullptr && connection.info.first.address.empty())
      connection.info = *info;
    if (const auto* segment = std::get_if<conformance::TcpSegment>(tcp)) watcher_.segment(watched, *segment);
    connection.walk.feed(*tcp);
    return show(watched, connection.walk);
  }
  connection.info = std::get<ConnectionOver>(event.event).info;
  connection.walk.finish();
  show(watched, connection.walk);
  iwarp_ = iwarp_ || connection.walk.iwarp();
  watcher_.over(watched);
  connections_.erase(event.connection);
}

void Reading::show(const Watched& watched, conformance::Walk& walk) {
  while (const auto* seen = walk.next()) watcher_.seen(watched, *seen);
}

}  // namespace weft::tools::dissect
