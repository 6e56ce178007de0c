// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/receive_queue.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace weft::verbs::detail {

namespace {
std::uint32_t next_receive_queue_number() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}
}  // namespace

ReceiveQueue::ReceiveQueue(std::shared_ptr<ProtectionDomainState> domain, const Shape& shape, Quota::Share share)
    : domain_(std::move(domain)),
      share_(std::move(share)),
      number_(next_receive_queue_number()),
      max_sge_(shape.max_sge),
      shape_(shape),
      posted_(Device::limits().max_srq_wr) {}

Result<void> ReceiveQueue::check(const ReceiveRequest& request, const Completing& own) {
  if (request.segments.size() > max_sge_) {
    return fail(Errc::kTooManySegments, "segments", "more than the queue was created for");
  }
  if (!has_room(own)) {
    return fail(Errc::kQueueFull, "receive queue", "full: poll completions first");
  }
  return {};
}

// The completion queues are asked only when this one seems full.
bool ReceiveQueue::has_room(const Completing& own) noexcept {
  const auto held = [this] { return slots_ - free_.size() + unpolled_; };
  if (held() < shape_.max_wr) return true;
  unpolled_ -= own.queue != nullptr ? own.queue->release(*own.places) : release_shared();
  return held() < shape_.max_wr;
}

// Releases the places held by polled completions, and those of completion queues that are gone, which nobody polls.
std::uint32_t ReceiveQueue::release_shared() noexcept {
  if (!rare_) return 0;
  std::uint32_t released = 0;
  std::erase_if(rare_->completing, [&](const Shared& some) {
    if (some.places->count() == 0) return false;
    const auto queue = some.queue.lock();
    released += queue ? queue->release(*some.places) : some.places->count();
    return !queue;
  });
  return released;
}

HeldPlaces& ReceiveQueue::places_in(const std::shared_ptr<CompletionSink>& queue) {
  const std::lock_guard lock(mutex_);
  auto& all = rare().completing;
  const auto known = std::ranges::find_if(
      all, [&](const Shared& some) { return !some.queue.owner_before(queue) && !queue.owner_before(some.queue); });
  if (known != all.end()) return *known->places;
  std::erase_if(all, [](const Shared& some) { return some.queue.expired() && some.places->count() == 0; });
  return *all.emplace_back(queue, std::make_unique<HeldPlaces>(Device::limits().max_srq_wr)).places;
}

// Storage grows with use and is then kept: an idle queue is small.
void ReceiveQueue::store(const ReceiveRequest& request) {
  if (free_.empty()) make_slot();  // there are never more than places
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& mine = slot(index);
  mine.wr_id = request.wr_id;
  const std::size_t segments = request.segments.size();  // check() has seen to it that they are few
  used(index) = static_cast<std::uint8_t>(segments);
  if (segments > 1) {
    auto& lists = rare().lists;
    if (lists.size() <= index) lists.resize(slots_);
    if (!lists[index]) lists[index] = std::make_unique<Sge[]>(max_sge_);
  }
  std::ranges::copy(request.segments, segments_of(index).begin());
  posted_.push(index);
}

std::span<Sge> ReceiveQueue::segments_of(std::uint64_t index) const noexcept {
  const std::size_t segments = used(index);
  return {segments > 1 ? rare_->lists[index].get() : &slot(index).only, segments};
}

ReceiveQueue::Rare& ReceiveQueue::rare() {
  if (!rare_) rare_ = std::make_unique<Rare>();
  return *rare_;
}

void ReceiveQueue::make_slot() {
  if (slots_ % kChunk == 0) chunks_.push_back(std::make_unique<Chunk>());
  free_.push_back(slots_++);
}

// Waiters are woken one after the other for as long as there is a receive: of thousands that wait at a shared queue as
// many as find one, and one more for each that does not take it (its stream may have ended). None is forgotten: a
// waiter has found no receive, only a post makes one, and no post returns while there are both, a receive and a waiter.
PostResult ReceiveQueue::post(std::span<const ReceiveRequest> requests, const Completing& own) {
  PostResult result;
  bool owes = false;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < requests.size() && result; ++i) {
      const auto fine = check(requests[i], own);
      if (fine) store(requests[i]);
      if (!fine) result = std::unexpected(PostFailure{fine.error(), i});
    }
    owes = owes_a_wake();
  }
  if (!owes) return result;
  while (const auto waiter = next_to_wake()) waiter->receives_available();
  return result;
}

// Null when there is no receive, or none waits for one.
std::shared_ptr<ReceiveWaiter> ReceiveQueue::next_to_wake() {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ReceiveWaiter> next;
  while (!next && owes_a_wake()) {
    next = rare_->waiters.front().lock();
    rare_->waiters.pop_front();
  }
  if (next) next->waiting_ = false;
  return next;
}

std::optional<ReceiveQueue::Taken> ReceiveQueue::take(const std::weak_ptr<ReceiveWaiter>& who) {
  const std::lock_guard lock(mutex_);
  if (posted_.empty()) {
    const auto waiter = who.lock();
    if (waiter && !waiter->waiting_) {
      rare().waiters.push_back(who);
      waiter->waiting_ = true;  // once it is in the list: there may be no memory for that
    }
    return std::nullopt;
  }
  const std::uint32_t index = posted_.pop();  // in the order of posting (SEC-2.3.5-01)
  check_limit();
  const auto segments = segments_of(index);
  std::uint64_t capacity = 0;
  for (const Sge& sge : segments) capacity += sge.length;
  return Taken{{index, capacity}, segments};
}

void ReceiveQueue::forget(const std::shared_ptr<ReceiveWaiter>& who) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(who->waiting_, false)) return;
  std::erase_if(rare_->waiters,
                [&](const auto& other) { return !other.owner_before(who) && !who.owner_before(other); });
}

// SEC-6.4.3.1-02: a low-water notification. Each completion names its queue pair, so the application can tell whose
// peer has used the receives up (SEC-6.4.3.1-01, DDP-8.3.2-07, RDMAP-8.1.2-08).
void ReceiveQueue::check_limit() {
  if (shape_.limit == 0 || posted_.size() >= shape_.limit) return;
  shape_.limit = 0;
  domain_->device->raise(
      {.type = AsyncEventType::kSharedReceiveQueueLimit, .number = number_, .context = shape_.context});
}

std::uint64_t ReceiveQueue::complete(std::uint64_t cookie) {
  const std::lock_guard lock(mutex_);
  free_.push_back(static_cast<std::uint32_t>(cookie));
  ++unpolled_;
  return slot(cookie).wr_id;
}

void ReceiveQueue::drop(std::uint64_t cookie) {
  const std::lock_guard lock(mutex_);
  free_.push_back(static_cast<std::uint32_t>(cookie));
}

void ReceiveQueue::released(std::uint32_t places) {
  const std::lock_guard lock(mutex_);
  unpolled_ -= places;
}

Result<void> ReceiveQueue::set_limit(std::uint32_t limit) {
  const std::lock_guard lock(mutex_);
  if (limit > shape_.max_wr) return fail(Errc::kInvalidArgument, "limit", "larger than the queue");
  shape_.limit = limit;
  check_limit();
  return {};
}

Result<void> ReceiveQueue::resize(std::uint32_t max_wr) {
  const std::lock_guard lock(mutex_);
  if (max_wr == 0 || max_wr > Device::limits().max_srq_wr) {
    return fail(Errc::kLimitExceeded, "max_wr", "zero, or larger than the device's limit");
  }
  if (max_wr < slots_) return fail(Errc::kBusy, "max_wr", "smaller than what the queue has held");
  shape_.max_wr = max_wr;
  return {};
}

ReceiveQueue::Shape ReceiveQueue::shape() const {
  const std::lock_guard lock(mutex_);
  return shape_;
}

}  // namespace weft::verbs::detail
