// SPDX-License-Identifier: Apache-2.0
// The state of a completion channel: the events of its queues, and the thread that waits for them.
#pragma once

#include <memory>
#include <utility>

#include "verbs/base/notification_queue.hpp"
#include "verbs/completion.hpp"
#include "verbs/progress/waiter.hpp"

namespace weft::verbs::detail {

class ChannelState {
 public:
  ChannelState(Runtime& runtime, std::shared_ptr<NotificationQueue<CompletionEvent>> queue)
      : events(std::move(queue)),
        waiter_(std::make_shared<Waiter>(runtime, events->waits_on(), [queue = events] { queue->show(); })) {}

  const std::shared_ptr<NotificationQueue<CompletionEvent>> events;
  // Waits, unless the descriptor's mode is not to. One thread at a time drives; others sleep on the descriptor.
  Result<CompletionEvent> get_event();
  // Puts it into `events`, by way of the descriptor where the waiter does not take it next anyway.
  void announce(CompletionEvent event);
  [[nodiscard]] Waiter& waiter() noexcept { return *waiter_; }

 private:
  const std::shared_ptr<Waiter> waiter_;
};

}  // namespace weft::verbs::detail
