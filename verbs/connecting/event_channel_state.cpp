// SPDX-License-Identifier: Apache-2.0
#include "verbs/connecting/event_channel_state.hpp"

#include <algorithm>

#include "transport/cancellation.hpp"

namespace weft::verbs::detail {

// The tick keeps the proxy alive, but not the channel and what is in it.
EventChannelState::EventChannelState(Runtime& runtime, std::shared_ptr<NotificationQueue<QueuedEvent>> queue)
    : events(std::move(queue)),
      proxy_(std::make_shared<Proxy>(runtime, events->waits_on(), [weak = std::weak_ptr(events)] {
        if (const auto open = weak.lock()) open->show();
      })) {}

void EventChannelState::post(QueuedEvent event) {
  const auto hold_back = [&] { return events->hold_back(std::move(event)); };
  if (proxy_->drives_here() ? hold_back() : proxy_->while_away(hold_back)) return;
  events->post(std::move(event));
}

std::optional<QueuedEvent> EventChannelState::take_now() {
  auto event = events->take_now();
  if (event) proxy_->come_by();
  return event;
}

Result<QueuedEvent> EventChannelState::get_event() {
  const transport::NoCancellationButInWaits not_cancelled;
  if (auto event = take_now()) return std::move(*event);
  if (!events->blocks()) return events->get(false);
  if (auto event = serve_until(Driver::Clock::time_point::max())) return std::move(*event);
  const Proxy::Sleep until_return(*proxy_);
  return events->get();
}

Result<QueuedEvent> EventChannelState::get_event(std::chrono::milliseconds at_most) {
  const transport::NoCancellationButInWaits not_cancelled;
  if (auto event = take_now()) return std::move(*event);
  const auto until = Driver::Clock::now() + std::min(at_most, kMaxTimeout);
  if (at_most >= tuning::kTick) {
    if (auto event = serve_until(until)) return std::move(*event);
  }
  const Proxy::Sleep until_return(*proxy_);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Driver::Clock::now());
  return events->get(std::max(left, std::chrono::milliseconds(0)));
}

std::optional<Result<QueuedEvent>> EventChannelState::serve_until(Driver::Clock::time_point until) {
  const Proxy::Wait wait(*proxy_);
  if (!wait.serves()) return std::nullopt;
  std::optional<QueuedEvent> event;
  switch (proxy_->serve_until(until, [&] { return (event = events->take_now()).has_value(); })) {
    case Proxy::Ended::kEvent: return std::move(*event);
    case Proxy::Ended::kSignal: return fail(Errc::kInterrupted, "channel", "a signal arrived while waiting");
    case Proxy::Ended::kNoEvent: break;
  }
  return std::nullopt;
}

}  // namespace weft::verbs::detail
