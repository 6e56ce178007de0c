// SPDX-License-Identifier: Apache-2.0
// The state of a channel of connection events, and the thread that waits for them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "verbs/base/notification_queue.hpp"
#include "verbs/connection.hpp"
#include "verbs/progress/proxy.hpp"

namespace weft::verbs::detail {

class Runtime;

// A connection request that the application has not taken yet. Dropped, it is rejected.
class Offer {
 public:
  explicit Offer(std::shared_ptr<ConnectionState> state) : state_(std::move(state)) {}
  Offer(Offer&&) noexcept = default;
  Offer& operator=(Offer&&) noexcept = default;
  ~Offer();
  [[nodiscard]] std::shared_ptr<ConnectionState> take() { return std::move(state_); }

 private:
  std::shared_ptr<ConnectionState> state_;
};

// A ConnectionEvent inside the library, where nothing may own the runtime.
struct QueuedEvent {
  ConnectionEvent event{};
  std::optional<Offer> offer{};
};

class EventChannelState {
 public:
  EventChannelState(Runtime& runtime, std::shared_ptr<NotificationQueue<QueuedEvent>> queue);
  ~EventChannelState() { proxy_->close(); }
  EventChannelState(const EventChannelState&) = delete;
  EventChannelState& operator=(const EventChannelState&) = delete;

  const std::shared_ptr<NotificationQueue<QueuedEvent>> events;
  // Waits, unless the descriptor's mode is not to.
  Result<QueuedEvent> get_event();
  // Waits no longer than `at_most`, whatever the descriptor's mode: kTimedOut.
  Result<QueuedEvent> get_event(std::chrono::milliseconds at_most);
  // Puts it into `events`, by way of the descriptor where the proxy does not take it next anyway.
  void post(QueuedEvent event);
  // For tests.
  [[nodiscard]] Proxy& proxy() noexcept { return *proxy_; }

 private:
  std::optional<QueuedEvent> take_now();
  // Returns nothing if no event came in time, or if this thread is not to serve.
  std::optional<Result<QueuedEvent>> serve_until(Driver::Clock::time_point until);

  const std::shared_ptr<Proxy> proxy_;
};

}  // namespace weft::verbs::detail
