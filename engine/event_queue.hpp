// SPDX-License-Identifier: Apache-2.0
// Events in the order in which they happened, until the user polls them. Bounded: completions of work requests by the
// send queue, whose entries are only freed when they are polled; events that the peer causes, because receive() stops;
// the others because they happen once.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "common/bounded_ring.hpp"
#include "engine/event.hpp"

namespace weft::engine {

class EventQueue {
 public:
  explicit EventQueue(std::uint32_t send_queue_depth) : events_(send_queue_depth + kFromPeer + kOnce) {}

  // The peer has caused as many events as the user may leave unpolled.
  [[nodiscard]] bool full() const noexcept { return events_.size() - completions_ >= kFromPeer; }
  template <typename Kind>
  void push(Kind event) {
    if constexpr (std::is_same_v<Kind, SendCompleted>) ++completions_;
    if constexpr (std::is_same_v<Kind, SendQueueDrained>) {
      if (std::exchange(drained_, true)) return;  // a user may drain as often as it likes; the others happen once
    }
    events_.extend() = std::move(event);  // the bounds below are what can wait at a time
  }
  // A receive that is done, to be filled in.
  [[nodiscard]] Received& push_received() { return events_.extend().emplace<Received>(); }
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  std::optional<Event> poll() {
    std::optional<Event> event;
    if (!events_.empty()) {
      event.emplace(std::move(events_.front()));
      events_.advance();
      if (std::holds_alternative<SendCompleted>(*event)) --completions_;
      if (std::holds_alternative<SendQueueDrained>(*event)) drained_ = false;
    }
    return event;
  }

 private:
  static constexpr std::size_t kFromPeer = 64;
  static constexpr std::size_t kOnce = 16;  // startup, Remark, ProtocolError, PeerClosed, SendQueueDrained, Closed ...

  BoundedRing<Event> events_;
  std::size_t completions_ = 0;
  bool drained_ = false;  // a SendQueueDrained waits to be polled
};

}  // namespace weft::engine
