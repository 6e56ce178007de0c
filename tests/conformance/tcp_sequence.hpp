// SPDX-License-Identifier: Apache-2.0
// What TcpConnections promises of every capture, a hostile one included: the first event of a connection opens it,
// nothing follows the one that says it is over; what comes out of a direction is in sequence, and nothing of it follows
// its end. tests/fuzz and tests/conformance hold it to that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <variant>

#include "conformance/tcp_connections.hpp"

namespace weft::conformance::testing {

class TcpSequence {
 public:
  // What is wrong with the event; nullptr when nothing is.
  [[nodiscard]] const char* take(const ConnectionEvent& event) {
    if (over_.contains(event.connection)) return "a connection goes on after its end";
    const auto [connection, first] = connections_.try_emplace(event.connection);
    const auto* of_tcp = std::get_if<TcpEvent>(&event.event);
    if (first != (of_tcp != nullptr && std::holds_alternative<TcpOpened>(*of_tcp))) {
      return "the first event is the one that opens, and no other";
    }
    if (of_tcp != nullptr) {
      return std::visit([&](const auto& told) { return check(connection->second, told); }, *of_tcp);
    }
    connections_.erase(connection);
    over_.insert(event.connection);
    return std::get<ConnectionOver>(event.event).info.number == event.connection ? nullptr : "the wrong one is over";
  }

 private:
  struct Direction {
    std::uint64_t next = 0;
    bool closed = false;
  };
  using Directions = std::array<Direction, 2>;  // by End

  static Direction& from(Directions& directions, End end) { return directions.at(static_cast<std::size_t>(end)); }
  static const char* advance(Direction& direction, std::uint64_t offset, std::uint64_t size) {
    if (direction.closed) return "a direction goes on after its end";
    if (direction.next != offset) return "not in sequence";
    if (size == 0) return "nothing is told";
    direction.next += size;
    return nullptr;
  }
  static const char* check(Directions&, const TcpOpened&) { return nullptr; }
  static const char* check(Directions& directions, const TcpSegment& segment) {
    return from(directions, segment.from).closed ? "a segment after the end" : nullptr;
  }
  static const char* check(Directions& directions, const TcpOctets& octets) {
    return advance(from(directions, octets.from), octets.stream_offset, octets.octets.size());
  }
  static const char* check(Directions& directions, const TcpGap& gap) {
    return advance(from(directions, gap.from), gap.stream_offset, gap.size);
  }
  static const char* check(Directions& directions, const TcpClosed& closed) {
    Direction& direction = from(directions, closed.from);
    if (direction.closed) return "a direction ends twice";
    direction.closed = true;
    return nullptr;
  }

  std::map<std::size_t, Directions> connections_{};
  std::set<std::size_t> over_{};
};

}  // namespace weft::conformance::testing
