// SPDX-License-Identifier: Apache-2.0
#include "verbs/objects/completion_queue_state.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace weft::verbs::detail {

namespace {
std::uint32_t next_completion_queue_number() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}
}  // namespace

CompletionQueueState::CompletionQueueState(Runtime& runtime, std::shared_ptr<DeviceState> device,
                                           const CompletionQueueAttributes& attributes,
                                           std::shared_ptr<ChannelState> channel, Quota::Share share)
    : number(next_completion_queue_number()),
      context(attributes.context),
      device_(std::move(device)),
      channel_(std::move(channel)),
      share_(std::move(share)),
      poller_(std::make_shared<Poller>(runtime)),
      ring_(std::in_place, attributes.capacity) {}

CompletionQueueState::~CompletionQueueState() {
  if (channel_) channel_->events->withdraw([this](const CompletionEvent& event) { return event.cq_number == number; });
}

// --- Completions

bool CompletionQueueState::keep(const WorkCompletion& completion, HeldPlaces* places) {
  if (ring_->full()) sweep();
  if (ring_->full()) return false;
  try {
    ring_->reserve();
    if (places != nullptr) places->hold(next_number_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  Numbered& kept = ring_->extend();
  kept.completion = completion;
  kept.number = next_number_++;
  return true;
}

bool CompletionQueueState::push(const WorkCompletion& completion, HeldPlaces* places) {
  bool kept = false;
  bool announces = false;
  bool first_loss = false;
  {
    const std::lock_guard lock(mutex_);
    kept = keep(completion, places);
    held_.store(ring_->size(), std::memory_order_release);
    const bool matches = !kept || completion.solicited || completion.status != WcStatus::kSuccess;
    if (armed_ && (*armed_ == Arm::kAll || matches)) announces = disarm();
    first_loss = !kept && !overflowed_.exchange(true);
  }
  if (announces) channel_->announce({number, context});
  if (sleepers_.any()) first_loss ? sleepers_.tell_all() : sleepers_.tell_one();
  // RDMAP-8.1.1-11, SEC-6.4.6-01: only the queue pairs that use this queue are affected.
  if (first_loss) {
    device_->raise({.type = AsyncEventType::kCompletionQueueError, .number = number, .context = context});
  }
  return kept;
}

// True when there is a channel to tell.
bool CompletionQueueState::disarm() {
  armed_.reset();
  if (channel_) ++unacknowledged_;
  return channel_ != nullptr;
}

std::size_t CompletionQueueState::take_held(std::span<WorkCompletion> out) {
  const std::lock_guard lock(mutex_);
  if (!discarded_.empty()) sweep();
  const std::size_t count = std::min(out.size(), ring_->size());
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = ring_->front().completion;
    ring_->advance();
  }
  held_.store(ring_->size(), std::memory_order_release);
  return count;
}

std::uint32_t CompletionQueueState::release(HeldPlaces& places) {
  const std::lock_guard lock(mutex_);
  sweep();
  return places.release(ring_->empty() ? next_number_ : ring_->front().number);
}

std::uint32_t CompletionQueueState::release_all(HeldPlaces& places) {
  const std::lock_guard lock(mutex_);
  return places.release(std::numeric_limits<std::uint64_t>::max());
}

Result<std::size_t> CompletionQueueState::poll(std::span<WorkCompletion> out) {
  if (out.empty()) return 0;
  if (const auto count = take(out); count != 0) return count;
  poller_->drive();
  if (const auto count = take(out); count != 0) return count;
  poller_->idle();
  if (const auto count = take(out); count != 0) return count;
  return nothing_there();
}

Result<std::size_t> CompletionQueueState::nothing_there() const {
  if (overflowed_) return fail(Errc::kOverflow, "completion queue", "overflowed: completions were lost");
  return 0;
}

Result<void> CompletionQueueState::arm(Arm which) {
  {
    const std::lock_guard lock(mutex_);
    if (armed_ != Arm::kAll) armed_ = which;  // asking for less does not take back asking for all
  }
  poller_->sleeps();  // most likely
  return {};
}

Result<void> CompletionQueueState::resize(std::uint32_t capacity) {
  if (capacity == 0 || capacity > Device::limits().max_cqe) {
    return fail(Errc::kLimitExceeded, "capacity", "zero, or larger than the device's limit");
  }
  const std::lock_guard lock(mutex_);
  sweep();
  if (ring_->size() > capacity) return fail(Errc::kLimitExceeded, "capacity", "the queue holds more completions");
  BoundedRing<Numbered> resized(capacity);
  while (!ring_->empty()) resized.push(ring_->pop());
  ring_.emplace(std::move(resized));
  return {};
}

// Takes out what is `unwanted(queue pair's number, position)`.
template <typename Unwanted>
void CompletionQueueState::drop_if(Unwanted unwanted) {
  const auto size = static_cast<std::uint32_t>(ring_->size());
  for (std::uint32_t position = 0; position < size; ++position) {
    const Numbered one = ring_->pop();
    if (!unwanted(one.completion.qp_num, position)) ring_->push(one);
  }
  held_.store(ring_->size(), std::memory_order_release);
}

void CompletionQueueState::discard(std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  if (ring_->empty()) return;
  try {
    discarded_.emplace_back(qp_number, static_cast<std::uint32_t>(ring_->size()));
  } catch (const std::bad_alloc&) {  // a queue pair goes all the same: its completions are taken out at once
    sweep();
    return drop_if([qp_number](std::uint32_t of, std::uint32_t) { return of == qp_number; });
  }
  if (discarded_.size() >= std::max(ring_->size(), kFewDiscarded)) sweep();
}

void CompletionQueueState::sweep() {
  if (discarded_.empty()) return;
  std::ranges::sort(discarded_);
  // Whether a discard of that queue pair came when the ring already held what stands at `position`: nothing has been
  // taken since, and a queue pair that was reset, or has got its number again, keeps what came later.
  const auto unwanted = [this](std::uint32_t qp_number, std::uint32_t position) {
    const auto later = std::ranges::upper_bound(discarded_, Discarded{qp_number, position});
    return later != discarded_.end() && later->first == qp_number;
  };
  drop_if(unwanted);
  discarded_.clear();
}

QueueDrivers drivers_of(CompletionQueueState& send, CompletionQueueState& receive) noexcept {
  const auto waiter = [](const CompletionQueueState& queue) {
    return queue.channel() == nullptr ? nullptr : &queue.channel()->waiter();
  };
  QueueDrivers drivers;
  drivers.sides[0] = {.poller = &send.poller(), .waiter = waiter(send)};
  if (&receive != &send) drivers.sides[1].poller = &receive.poller();
  if (waiter(receive) != waiter(send)) drivers.sides[1].waiter = waiter(receive);
  return drivers;
}

std::uint32_t CompletionQueueState::capacity() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(ring_->bound());
}

}  // namespace weft::verbs::detail
