// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/tcp_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::conformance::testing {
namespace {

struct Recorder {
  ConnectionHistory& history;
  std::vector<std::string>& order;

  [[nodiscard]] DirectionHistory& of(End end) const { return history.from.at(static_cast<std::size_t>(end)); }

  void operator()(const TcpOpened& opened) const { history.opened = opened; }
  void operator()(const TcpSegment& segment) const { of(segment.from).segments.push_back(segment); }
  void operator()(const TcpOctets& octets) const {
    DirectionHistory& direction = of(octets.from);
    direction.stream += text(octets.octets);
    for (std::uint32_t i = 0; i < octets.octets.size(); ++i) {
      direction.places.push_back({octets.place.packet, octets.place.octet + i});
    }
    ++direction.runs;
    direction.acknowledged.push_back(octets.acknowledged);
    order.push_back(text(octets.octets));
  }
  void operator()(const TcpGap& gap) const {
    DirectionHistory& direction = of(gap.from);
    ASSERT_LT(gap.size, std::uint64_t{1} << 24) << "too large to be kept";
    direction.stream.append(gap.size, '?');
    direction.places.resize(direction.stream.size());
    direction.gaps.push_back(gap);
  }
  void operator()(const TcpClosed& closed) const { of(closed.from).closed.push_back(closed); }
  void operator()(const TcpEvent& event) const { std::visit(*this, event); }
  void operator()(const ConnectionOver& over) const { history.over = over; }
};

}  // namespace

void TcpHistory::poll() {
  while (const auto event = tcp_.next()) {
    EXPECT_STREQ(sequence_.take(*event), nullptr) << "connection " << event->connection;
    std::visit(Recorder{connections_[event->connection], order_}, event->event);
  }
}

void TcpHistory::take(const Packet& packet) {
  packets_ = packet.number;
  EXPECT_TRUE(tcp_.take(packet));
  poll();
}

void TcpHistory::take_ip(const Octets& ip, std::size_t captured) {
  take(Packet{.number = packets_ + 1,
              .time = static_cast<std::int64_t>(packets_ + 1) * 1000,
              .link = LinkType::kRawIp,
              .captured = Bytes(ip).first(std::min(captured, ip.size())),
              .original_size = static_cast<std::uint32_t>(ip.size())});
}

void TcpHistory::finish() {
  tcp_.finish();
  poll();
}

}  // namespace weft::conformance::testing
