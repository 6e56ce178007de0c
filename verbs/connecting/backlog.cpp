// SPDX-License-Identifier: Apache-2.0
#include "verbs/connecting/backlog.hpp"

#include <algorithm>
#include <utility>

namespace weft::verbs::detail {

// --- The listener

int Backlog::room() {
  const std::lock_guard lock(mutex_);
  const int room = held_ ? 0 : std::max(limit_ - requests_, 0);
  awaited_ = room == 0;
  return room;
}

void Backlog::hold_requests(bool on) {
  const std::lock_guard lock(mutex_);
  held_ = on;
}

std::vector<HalfOpen::Entry> Backlog::enter(HalfOpen::Entry newcomer) {
  const std::lock_guard lock(mutex_);
  return half_open_.enter(std::move(newcomer));
}

std::optional<HalfOpen::Entry> Backlog::take_oldest() {
  const std::lock_guard lock(mutex_);
  return half_open_.take_oldest();
}

std::shared_ptr<ConnectionState> Backlog::find(const HalfOpen::Path& path) const {
  const std::lock_guard lock(mutex_);
  return half_open_.find(path);
}

std::optional<std::string> Backlog::dropped(std::size_t count, Instant now) {
  const std::lock_guard lock(mutex_);
  dropped_ += count;
  if (dropped_ == told_ || (told_at_ && now - *told_at_ < kBetweenLines)) return std::nullopt;
  told_at_ = now;
  const auto since = dropped_ - std::exchange(told_, dropped_);
  return "connections reset that had sent no MPA Request, to make room for others: " + std::to_string(since) +
         "; without a Request now: " + std::to_string(half_open_.size()) + ", of " +
         std::to_string(half_open_.places()) + " at most";
}

bool Backlog::tell_failure(Instant now) {
  const std::lock_guard lock(mutex_);
  if (failed_at_ && now - *failed_at_ < kBetweenLines) return false;
  failed_at_ = now;
  return true;
}

ListenCounts Backlog::counts() const {
  const auto [seats, refused] = admission->counts();
  const std::lock_guard lock(mutex_);
  return {.requests = static_cast<std::size_t>(requests_),
          .half_open = half_open_.size(),
          .half_open_most = half_open_.places(),
          .dropped = dropped_,
          .connections = seats,
          .denied = refused[std::to_underlying(Admission::Refusal::kDenied)],
          .too_fast = refused[std::to_underlying(Admission::Refusal::kTooFast)],
          .too_many = refused[std::to_underlying(Admission::Refusal::kTooMany)]};
}

// --- A connection

std::optional<QueuedEvent> Backlog::ask(std::uint64_t number, QueuedEvent request) {
  const std::lock_guard lock(mutex_);
  half_open_.leave(number);
  ++requests_;
  const bool too_many = !half_open_.ask();
  if (!channel_ || too_many) return request;
  if (requests_ > limit_) {
    waiting_.push_back(std::move(request));
  } else {
    channel_->post(std::move(request));
  }
  return std::nullopt;
}

void Backlog::leave_half_open(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  half_open_.leave(number);
}

bool Backlog::leave_requests() {
  const std::lock_guard lock(mutex_);
  --requests_;
  HalfOpen::leave_request();
  const bool room = requests_ - static_cast<int>(waiting_.size()) < limit_;
  if (room && !waiting_.empty() && channel_) {
    channel_->post(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return requests_ < limit_ && std::exchange(awaited_, false);
}

// --- Its channel

void Backlog::move_to(std::shared_ptr<EventChannelState> channel, const std::unique_lock<std::mutex>&) {
  channel_ = std::move(channel);
}

std::deque<QueuedEvent> Backlog::close() {
  const std::lock_guard lock(mutex_);
  channel_.reset();
  return std::exchange(waiting_, {});
}

}  // namespace weft::verbs::detail
