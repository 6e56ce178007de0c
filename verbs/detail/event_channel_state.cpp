// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/event_channel_state.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

#include "transport/cancellation.hpp"
#include "verbs/detail/restarts.hpp"
#include "verbs/detail/runtime.hpp"

namespace weft::verbs::detail {

EventChannelState::~EventChannelState() {
  if (stands_in_) runtime_.step_back();
}

// While a thread stands in and is not at it, most likely it is the one that has just resolved an address, and takes the
// event next. Should it look at the descriptor instead, the next tick shows it.
void EventChannelState::post(QueuedEvent event) {
  if (server_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    events->hold_back(std::move(event));
    return;
  }
  std::unique_lock lock(mutex_);
  if (stands_in_ && !waiting_ && asleep_ == 0) {
    events->hold_back(std::move(event));
    return;
  }
  lock.unlock();
  events->post(std::move(event));
}

std::optional<QueuedEvent> EventChannelState::take_now() {
  auto event = events->take_now();
  if (event) come_by();
  return event;
}

Result<QueuedEvent> EventChannelState::get_event() {
  if (auto event = take_now()) return std::move(*event);
  if (!events->blocks()) return events->get();
  if (begin_wait()) {
    const Wait until_return{*this};
    if (auto event = serve_until_event(Clock::time_point::max())) return std::move(*event);
  }
  const Sleep until_return(*this);
  return events->get();
}

Result<QueuedEvent> EventChannelState::get_event(std::chrono::milliseconds at_most) {
  if (auto event = take_now()) return std::move(*event);
  const auto until = Clock::now() + std::min(at_most, kMaxTimeout);
  if (at_most >= kStale && begin_wait()) {
    const Wait until_return{*this};
    if (auto event = serve_until_event(until)) return std::move(*event);
  }
  const Sleep until_return(*this);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return events->get(std::max(left, std::chrono::milliseconds(0)));
}

EventChannelState::Sleep::Sleep(EventChannelState& where) : channel(where) {
  channel.runtime_.falls_asleep();
  const std::lock_guard lock(channel.mutex_);
  ++channel.asleep_;
  channel.events->show();
}

EventChannelState::Sleep::~Sleep() {
  channel.runtime_.wakes_up();
  const std::lock_guard lock(channel.mutex_);
  --channel.asleep_;
}

// False when this thread is not to serve. Memory is taken first: without it nothing has changed.
bool EventChannelState::begin_wait() {
  const transport::NoCancellation here;
  const std::lock_guard lock(mutex_);
  if (waiting_ || (!stands_in_ && !waits_often())) return false;
  auto presence = ticking_ ? nullptr : std::make_shared<Presence>(weak_from_this());
  if (!stands_in_ && !runtime_.stand_in()) return false;
  stands_in_ = waiting_ = ticking_ = true;
  if (presence) runtime_.watch(std::move(presence));  // needs no memory
  return true;
}

void EventChannelState::continue_row() {
  const auto now = Clock::now();
  if (now - std::exchange(last_call_, now) > kStale) waits_ = 0;
}

bool EventChannelState::waits_often() {
  continue_row();
  return ++waits_ >= kManyWaits;
}

// A call that finds an event is part of the row, but no wait: one who always finds some, since it looks at the
// descriptor first, would not serve while it sleeps there.
void EventChannelState::come_by() {
  const std::lock_guard lock(mutex_);
  came_by_ = true;
  if (!stands_in_ && waits_ != 0) continue_row();
}

void EventChannelState::end_wait() {
  const std::lock_guard lock(mutex_);
  waiting_ = false;
  came_by_ = true;
}

std::optional<Result<QueuedEvent>> EventChannelState::serve_until_event(Clock::time_point until) {
  const auto quiet = Clock::now() + kQuiet;
  const auto end = std::min(until, quiet);
  for (;;) {
    const bool served = serve_one();
    if (auto event = events->take_now()) return std::move(*event);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) break;
    if (served) continue;
    std::array<pollfd, 2> waits{{{.fd = events->waits_on(), .events = POLLIN, .revents = 0},
                                 {.fd = runtime_.stands_in_at(), .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(waits.data(), waits.size(), static_cast<int>(left.count()));
    if (ready < 0 && !every_handler_restarts()) {
      return fail(Errc::kInterrupted, "channel", "a signal arrived while waiting");
    }
  }
  const std::lock_guard lock(mutex_);
  if (end == quiet) step_back();
  return std::nullopt;
}

// What it posts meanwhile needs no token: it is taken before this thread does anything else. False when there is
// nothing to serve.
bool EventChannelState::serve_one() {
  const transport::NoCancellation here;
  server_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  const bool served = runtime_.serve_one();
  server_.store({}, std::memory_order_relaxed);
  return served;
}

// Until somebody makes a habit of it again.
void EventChannelState::step_back() {
  waits_ = 0;
  if (std::exchange(stands_in_, false)) runtime_.step_back();
}

// Ticks are kStale apart or more.
bool EventChannelState::Presence::hand_back_if_idle(Clock::time_point) {
  const auto channel = channel_.lock();
  return !channel || channel->has_gone();
}

bool EventChannelState::has_gone() {
  const std::lock_guard lock(mutex_);
  if (waiting_) return false;
  events->show();
  if (std::exchange(came_by_, false) && stands_in_) return false;
  step_back();
  ticking_ = false;
  return true;
}

}  // namespace weft::verbs::detail
