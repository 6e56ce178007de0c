// SPDX-License-Identifier: Apache-2.0
// What TcpConnections told, kept: per connection and direction the octets, and where the gaps are.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/tcp_connections.hpp"
#include "tests/conformance/tcp_sequence.hpp"
#include "tests/conformance/wire_packets.hpp"

namespace weft::conformance::testing {

struct DirectionHistory {
  std::string stream{};         // '?' for each octet of a gap
  std::vector<Place> places{};  // of each octet; {} in a gap
  std::vector<TcpGap> gaps{};
  std::vector<TcpSegment> segments{};
  std::vector<TcpClosed> closed{};
  std::size_t runs = 0;                                      // of octets
  std::vector<std::optional<std::uint64_t>> acknowledged{};  // by each run
};

struct ConnectionHistory {
  std::optional<TcpOpened> opened{};
  std::array<DirectionHistory, 2> from{};  // by End
  std::optional<ConnectionOver> over{};
};

// Feeds packets and checks what holds always.
class TcpHistory {
 public:
  explicit TcpHistory(const TcpLimits& limits = {}) : tcp_(limits) {}

  void take(const Packet& packet);
  // The next packet of the capture, without link-layer header. `captured`: the octets of it that the capture has.
  void take_ip(const Octets& ip, std::size_t captured = SIZE_MAX);
  void take(const Segment& segment) { take_ip(ipv4(segment)); }
  void finish();

  [[nodiscard]] const ConnectionHistory& connection(std::size_t number = 0) const { return connections_.at(number); }
  [[nodiscard]] const DirectionHistory& from(End end, std::size_t number = 0) const {
    return connections_.at(number).from.at(static_cast<std::size_t>(end));
  }
  // By number. A connection of which every packet still waits is not there yet.
  [[nodiscard]] const std::map<std::size_t, ConnectionHistory>& all() const noexcept { return connections_; }
  // The runs of octets of both directions of all connections.
  [[nodiscard]] const std::vector<std::string>& order() const noexcept { return order_; }
  [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }
  [[nodiscard]] TcpConnections& tcp() noexcept { return tcp_; }

 private:
  void poll();

  TcpConnections tcp_;
  TcpSequence sequence_{};
  std::map<std::size_t, ConnectionHistory> connections_{};
  std::vector<std::string> order_{};
  std::uint64_t packets_ = 0;
};

}  // namespace weft::conformance::testing
