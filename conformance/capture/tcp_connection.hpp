// SPDX-License-Identifier: Apache-2.0
// One TCP connection: who its ends are, what their SYNs said, and its two directions.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "conformance/capture/tcp_direction.hpp"

namespace weft::conformance::capture {

struct Endpoint {
  Address address{};
  std::uint16_t port{};
  auto operator<=>(const Endpoint&) const = default;
};
[[nodiscard]] inline Endpoint source(const TcpPacket& packet) noexcept {
  return {packet.source, packet.header.source_port};
}
[[nodiscard]] inline Endpoint destination(const TcpPacket& packet) noexcept {
  return {packet.destination, packet.header.destination_port};
}

class TcpConnection {
 public:
  // `packet` is the first one.
  TcpConnection(std::size_t number, const TcpPacket& packet, std::int64_t time, BufferBudget& budget);

  [[nodiscard]] const ConnectionInfo& info() const noexcept { return info_; }
  [[nodiscard]] bool closed() const noexcept { return first_.direction.closed() && second_.direction.closed(); }
  // Not a packet of this connection: its SYN opens another one between the same addresses and ports.
  [[nodiscard]] bool is_other(const TcpPacket& packet) const noexcept;
  void take(const TcpPacket& packet, std::int64_t time, EventQueue& out);
  // Nothing of it follows.
  void finish(bool evicted, EventQueue& out);

 private:
  struct Half {
    TcpDirection direction;
    bool syn_seen = false;
    std::optional<std::uint16_t> mss{};
  };
  [[nodiscard]] End sender(const TcpPacket& packet) const noexcept {
    return source(packet) == first_end_ ? End::kFirst : End::kSecond;
  }
  [[nodiscard]] Half& half(End end) noexcept { return end == End::kFirst ? first_ : second_; }
  [[nodiscard]] const Half& half(End end) const noexcept { return end == End::kFirst ? first_ : second_; }
  void open(EventQueue& out);
  void reset(Half& by, Half& other, const TcpPacket& packet, EventQueue& out);

  ConnectionInfo info_{};
  Endpoint first_end_{};
  Half first_;
  Half second_;
  bool opened_ = false;  // and told
};

}  // namespace weft::conformance::capture
