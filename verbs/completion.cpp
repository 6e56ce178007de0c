// SPDX-License-Identifier: Apache-2.0
#include "verbs/completion.hpp"

#include <algorithm>

#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/policy.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

namespace {

// `queue` is a share of its own: the program may destroy the handle meanwhile.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Result<std::size_t> wait_for(detail::Handle<detail::CompletionQueueState> queue, std::span<WorkCompletion> out,
                             detail::Sleepers::Clock::time_point until) {
  if (out.empty()) return fail(Errc::kInvalidArgument, "out", "has no room for a completion");
  if (!queue) return fail(Errc::kInvalidState, "completion queue", "its handle was moved from");
  auto* const own = queue.ours();
  return own != nullptr ? own->wait(out, until) : detail::not_ours("completion queue");
}

}  // namespace

Result<CompletionChannel> CompletionChannel::create() {
  auto runtime = detail::Runtime::acquire();
  if (!runtime) return std::unexpected(runtime.error());
  auto events =
      detail::NotificationQueue<CompletionEvent>::create(detail::kUnboundedEvents);  // calls of arm() bound them
  if (!events) return std::unexpected(events.error());
  CompletionChannel channel;
  auto state = std::make_shared<detail::ChannelState>(**runtime, std::move(*events));
  channel.self_ = {std::move(*runtime), std::move(state)};
  return channel;
}

int CompletionChannel::descriptor() const noexcept { return self_->events->descriptor(); }
Result<CompletionEvent> CompletionChannel::get_event() const {
  auto* const own = self_.ours();
  return own != nullptr ? own->get_event() : detail::not_ours("channel");
}

bool CompletionQueue::is_parents() const noexcept { return self_ && detail::is_parents(*self_.runtime); }
std::uint32_t CompletionQueue::number() const noexcept { return self_->number; }
std::uint64_t CompletionQueue::context() const noexcept { return self_->context; }
std::uint32_t CompletionQueue::capacity() const noexcept { return self_->capacity(); }
Result<std::size_t> CompletionQueue::poll(std::span<WorkCompletion> out) { return self_->poll(out); }
Result<std::size_t> CompletionQueue::wait(std::span<WorkCompletion> out) {
  return wait_for(self_, out, detail::Sleepers::kForEver);
}
Result<std::size_t> CompletionQueue::wait(std::span<WorkCompletion> out, std::chrono::milliseconds at_most) {
  if (at_most.count() < 0) return fail(Errc::kInvalidArgument, "at_most", "negative");
  return wait_for(self_, out, detail::Sleepers::Clock::now() + std::min(at_most, kMaxTimeout));
}
void CompletionQueue::interrupt_wait() {
  if (auto* const own = self_.ours()) own->interrupt_wait();
}
Result<void> CompletionQueue::arm(Arm which) {
  if (which != Arm::kAll && which != Arm::kSolicited) {
    return fail(Errc::kInvalidArgument, "which", "neither kAll nor kSolicited");
  }
  return self_->arm(which);
}
Result<void> CompletionQueue::resize(std::uint32_t capacity) { return self_->resize(capacity); }
void CompletionQueue::acknowledge_events(std::uint32_t count) noexcept { self_->acknowledge_events(count); }
std::uint32_t CompletionQueue::unacknowledged_events() const noexcept { return self_->unacknowledged_events(); }

}  // namespace weft::verbs
