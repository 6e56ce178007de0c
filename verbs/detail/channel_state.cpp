// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/channel_state.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "transport/cancellation.hpp"
#include "verbs/detail/restarts.hpp"
#include "verbs/detail/runtime.hpp"
#include "verbs/detail/stream.hpp"

namespace weft::verbs::detail {

namespace {

constexpr std::uint64_t kEvents = 0;  // streams are numbered from 1

}  // namespace

// --- Streams

void ChannelState::attach(const std::shared_ptr<Stream>& stream, const transport::Socket& socket) {
  const std::lock_guard lock(mutex_);
  Member& member = members_[stream->number()];
  if (member.queues++ > 0) return;
  member.stream = stream;
  member.socket = &socket;
  if (sockets_) member.added = !sockets_->add(socket, stream->number(), transport::kNoInterest);
}

void ChannelState::detach(const Stream& stream, const transport::Socket& socket) {
  std::shared_ptr<Stream> last;  // let go of behind the lock
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(stream.number());
  if (found == members_.end() || --found->second.queues > 0) return;
  if (found->second.added) sockets_->remove(socket);
  last = std::move(found->second.stream);
  members_.erase(found);
}

bool ChannelState::show_interest(const Stream& stream, const transport::Socket& socket, transport::Interest interest) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(stream.number());
  if (!sockets_ || found == members_.end()) return false;
  Member& member = found->second;
  if (member.added) return !sockets_->modify(socket, stream.number(), interest);
  return member.added = !sockets_->add(socket, stream.number(), interest);
}

std::shared_ptr<Stream> ChannelState::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(number);
  return found == members_.end() ? nullptr : found->second.stream;
}

void ChannelState::refresh_interests() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, member] : members_) streams.push_back(member.stream);
  }
  for (const auto& stream : streams) stream->refresh_interest();
}

// --- Waiting

void ChannelState::announce(CompletionEvent event) {
  if (driver_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    events->hold_back(event);
  } else if (!hold_back(event)) {
    events->post(event);
  }
}

// While a thread makes a habit of waiting here and is not at it: it has just posted a Send, most likely, and takes the
// event next. Should it look at the descriptor instead, the next tick shows it.
bool ChannelState::hold_back(const CompletionEvent& event) {
  const std::lock_guard lock(mutex_);
  if (!waited_ || waiting_ || asleep_ != 0) return false;
  return events->hold_back(event);
}

Result<CompletionEvent> ChannelState::get_event() {
  if (const auto event = events->take_now()) {
    look_if_due();
    return *event;
  }
  if (!events->blocks()) return events->get();
  if (begin_wait()) {
    const Wait until_return{*this};
    return drive_until_event();
  }
  const Sleep until_return(*this);
  return events->get();
}

// Who finds an event each time it comes never sleeps. The sockets are its own all the same, and in them may be what no
// event tells of: a Write, or a Read that is owed its answer.
void ChannelState::look_if_due() {
  if (!waited_) return;
  const auto now = Clock::now().time_since_epoch();
  if (now - Clock::duration(looked_.load(std::memory_order_relaxed)) < kMostUnseen) return;
  looked_.store(now.count(), std::memory_order_relaxed);
  const transport::NoCancellation here;
  std::array<transport::Ready, kReadyAtOnce> ready;
  drive(std::span(ready).first(sockets_->wait(ready)));
}

Result<CompletionEvent> ChannelState::drive_until_event() {
  if (const auto event = events->take_now()) return *event;  // held back before it was known that somebody waits
  std::array<transport::Ready, kReadyAtOnce> ready;
  for (;;) {
    const std::size_t count = sockets_->wait(ready, transport::ReadinessSet::kForEver);
    const transport::NoCancellation none;  // but in the wait
    if (count == 0 && !every_handler_restarts()) {
      return fail(Errc::kInterrupted, "channel", "a signal arrived while waiting");
    }
    driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);  // what is announced in here is taken next
    drive(std::span(ready).first(count));
    driver_.store({}, std::memory_order_relaxed);
    if (const auto event = events->take_now()) return *event;
  }
}

void ChannelState::drive(std::span<const transport::Ready> ready) {
  for (const auto& one : ready) {
    if (one.token == kEvents) continue;
    if (const auto stream = find(one.token)) stream->drive(one.hangup);
  }
}

ChannelState::Sleep::Sleep(ChannelState& where) : channel(where) {
  const std::lock_guard lock(channel.mutex_);
  ++channel.asleep_;
  channel.events->show();
}

ChannelState::Sleep::~Sleep() {
  const std::lock_guard lock(channel.mutex_);
  --channel.asleep_;
}

// False when this thread is not to drive.
bool ChannelState::begin_wait() {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ || members_.empty() || members_.size() > kMostDriven || !open_sockets()) return false;
    waiting_ = true;
    fresh_ = true;
  }
  if (!waited_.exchange(true)) refresh_interests();
  return true;
}

// False when the process is out of descriptors.
bool ChannelState::open_sockets() {
  if (sockets_) return true;
  auto opened = transport::ReadinessSet::create();
  if (!opened || opened->watch(events->waits_on(), kEvents)) return false;
  for (auto& [number, member] : members_) {
    member.added = !opened->add(*member.socket, number, transport::kNoInterest);
  }
  sockets_.emplace(std::move(*opened));
  return true;
}

void ChannelState::end_wait() {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = false;
    fresh_ = true;
    if (std::exchange(ticking_, true)) return;
    fresh_ = false;  // the first tick is a whole one from here
    quiet_ticks_ = 0;
  }
  runtime_.watch(shared_from_this());
}

// Ticks are kStale apart or more.
bool ChannelState::hand_back_if_idle(Clock::time_point) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_) events->show();
    quiet_ticks_ = std::exchange(fresh_, false) ? 0 : quiet_ticks_ + 1;
    if (quiet_ticks_ < (waiting_ ? kLongWait : 1)) return false;
    ticking_ = false;
    if (waiting_) return true;  // it drives them
    waited_ = false;
  }
  refresh_interests();
  return true;
}

}  // namespace weft::verbs::detail
