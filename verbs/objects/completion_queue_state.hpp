// SPDX-License-Identifier: Apache-2.0
// The state of a completion queue: the completions in it, and the threads that poll it or sleep until there are some.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/bounded_ring.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/base/device_state.hpp"
#include "verbs/base/held_places.hpp"
#include "verbs/base/sleepers.hpp"
#include "verbs/completion.hpp"
#include "verbs/objects/channel_state.hpp"
#include "verbs/progress/poller.hpp"
#include "verbs/progress/socket_watch.hpp"

namespace weft::verbs::detail {

class CompletionQueueState final : public CompletionSink {
 public:
  CompletionQueueState(Runtime& runtime, std::shared_ptr<DeviceState> device,
                       const CompletionQueueAttributes& attributes, std::shared_ptr<ChannelState> channel,
                       Quota::Share share = {});
  ~CompletionQueueState() override;
  CompletionQueueState(const CompletionQueueState&) = delete;
  CompletionQueueState& operator=(const CompletionQueueState&) = delete;

  // --- Completions
  // False on overflow: the completion is lost, and its queue pair cannot go on. `places`: of the work queue, one of
  // which is held until the completion is polled; always used with the same completion queue.
  bool push(const WorkCompletion& completion, HeldPlaces* places = nullptr);
  std::uint32_t release(HeldPlaces& places) override;
  // Releases all: their completions are not to be polled (discard). Returns how many.
  std::uint32_t release_all(HeldPlaces& places);
  [[nodiscard]] Result<std::size_t> poll(std::span<WorkCompletion> out);
  // The same, but sleeps until something is there, or kTimedOut.
  [[nodiscard]] Result<std::size_t> wait(std::span<WorkCompletion> out, Sleepers::Clock::time_point until);
  // One wait ends before it sleeps, or instead of sleeping on.
  void interrupt_wait();
  Result<void> arm(Arm which);
  Result<void> resize(std::uint32_t capacity);
  // A queue pair is gone, or reset: the completions that are here of it go. Those that it pushes later stay.
  void discard(std::uint32_t qp_number);

  // One thread's wait in its steps: begin, look, sleep, look again. What is pushed after the beginning is found by the
  // next look, or ends the next sleep.
  class Wait {
   public:
    explicit Wait(CompletionQueueState& queue) noexcept : queue_(queue) { queue_.sleepers_.arrive(); }
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    // Takes some, or says why none will come; 0 when it is time to sleep.
    [[nodiscard]] Result<std::size_t> look(std::span<WorkCompletion> out);
    // Returns false when the time is over.
    [[nodiscard]] bool sleep(Sleepers::Clock::time_point until);

   private:
    CompletionQueueState& queue_;
    std::uint64_t told_ = 0;
  };
  [[nodiscard]] const Sleepers& sleepers() const noexcept { return sleepers_; }

  // --- Who drives
  [[nodiscard]] Poller& poller() noexcept { return *poller_; }
  [[nodiscard]] ChannelState* channel() const noexcept { return channel_.get(); }  // null when there is none

  void acknowledge_events(std::uint32_t count) noexcept { unacknowledged_ -= count; }
  [[nodiscard]] std::uint32_t unacknowledged_events() const noexcept { return unacknowledged_; }
  [[nodiscard]] std::uint32_t capacity() const;
  [[nodiscard]] bool belongs_to(const DeviceState& device) const noexcept { return device_.get() == &device; }
  const std::uint32_t number;
  const std::uint64_t context;

 private:
  // At least this number of queue pairs go before their completions are looked for unasked: then, or at as many as
  // there are completions, a sweep is no more than constant work for each of them.
  static constexpr std::size_t kFewDiscarded = 64;

  struct Numbered {
    WorkCompletion completion{};
    std::uint64_t number{};
  };

  // Takes completions. For an empty queue, which is what a spinning application mostly finds, this is one load.
  [[nodiscard]] std::size_t take(std::span<WorkCompletion> out) {
    return held_.load(std::memory_order_acquire) == 0 ? 0 : take_held(out);
  }
  [[nodiscard]] std::size_t take_held(std::span<WorkCompletion> out);
  [[nodiscard]] Result<std::size_t> nothing_there() const;  // 0, or that completions were lost
  void sweep();                                             // under mutex_: what was discarded
  template <typename Unwanted>
  void drop_if(Unwanted unwanted);                                  // under mutex_
  bool disarm();                                                    // under mutex_
  bool keep(const WorkCompletion& completion, HeldPlaces* places);  // under mutex_

  const std::shared_ptr<DeviceState> device_;
  const std::shared_ptr<ChannelState> channel_;
  const Quota::Share share_;
  const std::shared_ptr<Poller> poller_;
  std::atomic<std::uint32_t> unacknowledged_{0};

  mutable CompactMutex mutex_;  // of the completions
  std::optional<BoundedRing<Numbered>> ring_;
  std::uint64_t next_number_ = 0;
  std::optional<Arm> armed_;
  std::atomic<std::size_t> held_{0};  // completions in the ring: a poll of an empty one takes no lock
  std::atomic<bool> overflowed_{false};
  // Queue pairs that are gone, or were reset, and how many completions the ring held then: theirs among these go before
  // the next one is taken, or when there is no room, in one sweep for all. With a sweep each, ten thousand queue pairs
  // would end in quadratic time.
  using Discarded = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Discarded> discarded_;
  Sleepers sleepers_;
  std::atomic<bool> interrupted_{false};  // the next wait that finds nothing ends
};

// Returns the drivers of both sides. If both have the same queue or channel, the first side has it.
[[nodiscard]] QueueDrivers drivers_of(CompletionQueueState& send, CompletionQueueState& receive) noexcept;

}  // namespace weft::verbs::detail
