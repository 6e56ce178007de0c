// SPDX-License-Identifier: Apache-2.0
#include "verbs/objects/channel_state.hpp"

#include <optional>

#include "transport/cancellation.hpp"

namespace weft::verbs::detail {

void ChannelState::announce(CompletionEvent event) {
  const auto hold_back = [&] { return events->hold_back(event); };
  if (waiter_->drives_here() ? !hold_back() : !waiter_->while_away(hold_back)) events->post(event);
}

Result<CompletionEvent> ChannelState::get_event() {
  const transport::NoCancellationButInWaits not_cancelled;
  if (const auto event = events->take_now()) {
    waiter_->look_if_due();
    return *event;
  }
  if (!events->blocks()) return events->get(false);
  if (const Waiter::Wait wait(*waiter_); wait.drives()) {
    std::optional<CompletionEvent> event;
    if (waiter_->drive_until([&] { return (event = events->take_now()).has_value(); })) return *event;
    return fail(Errc::kInterrupted, "channel", "a signal arrived while waiting");
  }
  const EventTaker::Sleep until_return(*waiter_);
  return events->get();
}

}  // namespace weft::verbs::detail
