// SPDX-License-Identifier: Apache-2.0
// Events until they are polled, and the octets that they show where these are no longer in a packet.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/tcp_connections.hpp"

namespace weft::conformance::capture {

class EventQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return polled_ == events_.size(); }

  void push(std::size_t connection, std::variant<TcpEvent, ConnectionOver> event) {
    events_.push_back({connection, std::move(event)});
  }

  // Octets stay until the queue is reset.
  Bytes keep(std::vector<std::uint8_t> octets) {
    kept_.push_back(std::move(octets));
    return std::as_bytes(std::span(kept_.back()));
  }

  std::optional<ConnectionEvent> pop() {
    if (empty()) return std::nullopt;
    return std::move(events_[polled_++]);
  }

  // Once everything has been polled: room for what the next packet brings.
  void reset() noexcept {
    events_.clear();
    kept_.clear();
    polled_ = 0;
  }

 private:
  std::vector<ConnectionEvent> events_{};
  std::vector<std::vector<std::uint8_t>> kept_{};
  std::size_t polled_ = 0;
};

}  // namespace weft::conformance::capture
