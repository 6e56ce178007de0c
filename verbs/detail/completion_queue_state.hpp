// SPDX-License-Identifier: Apache-2.0
// A completion queue, and the streams whose queue pairs complete here. A thread that polls an empty queue drives their
// sockets itself; while it does so, the progress thread stays away from them.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/bounded_ring.hpp"
#include "transport/readiness_set.hpp"
#include "verbs/completion.hpp"
#include "verbs/detail/application_driver.hpp"
#include "verbs/detail/channel_state.hpp"
#include "verbs/detail/compact_mutex.hpp"
#include "verbs/detail/device_state.hpp"
#include "verbs/detail/poll_habit.hpp"

namespace weft::verbs::detail {

class Runtime;
class Stream;

class CompletionQueueState final : public ApplicationDriver, public std::enable_shared_from_this<CompletionQueueState> {
 public:
  CompletionQueueState(Runtime& runtime, std::shared_ptr<DeviceState> device,
                       const CompletionQueueAttributes& attributes, std::shared_ptr<ChannelState> channel,
                       Quota::Share share = {});
  ~CompletionQueueState() override;

  // --- Completions
  // False on overflow: the completion is lost, and its queue pair cannot go on.
  bool push(const WorkCompletion& completion);
  [[nodiscard]] Result<std::size_t> poll(std::span<WorkCompletion> out);
  Result<void> arm(Arm which);
  Result<void> resize(std::uint32_t capacity);
  // A queue pair is gone, or reset: its completions are of no use to anybody. One that it pushes later is again.
  void discard(std::uint32_t qp_number);

  // --- Streams
  void attach(const std::shared_ptr<Stream>& stream, const transport::Socket& socket);
  void detach(const Stream& stream, const transport::Socket& socket);
  // Called with the stream's lock held. True while a thread polls this queue, which then has the stream to itself until
  // Stream::given_back().
  [[nodiscard]] bool claim(const Stream& stream);
  // A thread of the application drives the sockets: one that polls this queue, or one that waits on its channel.
  [[nodiscard]] bool driven() const noexcept { return polls_.spins() || waited(); }
  // A thread polls it all the time, and its streams are few.
  [[nodiscard]] bool polls_few() const noexcept { return polls_.spins() && few_; }
  // Whether who polls this queue is also to look for room in a socket, which is blocked. Called with the stream's lock
  // held.
  void show_blocked(const Stream& stream, const transport::Socket& socket, bool blocked);
  [[nodiscard]] bool waited() const noexcept { return channel_ && channel_->waited(); }
  [[nodiscard]] ChannelState* channel() const noexcept { return channel_.get(); }  // null when there is none
  bool hand_back_if_idle(Clock::time_point now) override;
  [[nodiscard]] bool has_time() noexcept override { return polls_.had_time(); }

  void acknowledge_events(std::uint32_t count) noexcept { unacknowledged_ -= count; }
  [[nodiscard]] std::uint32_t unacknowledged_events() const noexcept { return unacknowledged_; }
  [[nodiscard]] std::uint32_t capacity() const;
  [[nodiscard]] bool belongs_to(const DeviceState& device) const noexcept { return device_.get() == &device; }
  const std::uint32_t number;
  const std::uint64_t context;

 private:
  struct Member {
    std::shared_ptr<Stream> stream{};
    const transport::Socket* socket{};  // the stream's; it leaves this queue before it closes it
  };
  using Members = std::vector<Member>;
  // Up to so many sockets it is cheaper to read each than to ask which can be read.
  static constexpr std::size_t kFewStreams = 4;

  // At least so many queue pairs go before their completions are looked for unasked: then, or at as many as there are
  // completions, a sweep is no more than constant work for each of them.
  static constexpr std::size_t kFewDiscarded = 64;

  void refresh_interests();
  // Of an empty queue, which is what a spinning application mostly finds, it is one look.
  [[nodiscard]] std::size_t take(std::span<WorkCompletion> out) {
    return held_.load(std::memory_order_acquire) == 0 ? 0 : take_held(out);
  }
  [[nodiscard]] std::size_t take_held(std::span<WorkCompletion> out);
  bool sweep();   // under mutex_; false when there was nothing to look for
  bool disarm();  // under mutex_
  void make_progress();
  void take_over(const Members* few);
  void give_back();
  void drive_ready(transport::ReadinessSet& set);
  void watch_all();
  void keep_few();
  [[nodiscard]] Members all_members() const;

  Runtime& runtime_;
  const std::shared_ptr<DeviceState> device_;
  const std::shared_ptr<ChannelState> channel_;
  const Quota::Share share_;
  std::atomic<std::uint32_t> unacknowledged_{0};

  mutable CompactMutex mutex_;  // of the completions
  std::optional<BoundedRing<WorkCompletion>> ring_;
  std::optional<Arm> armed_;
  std::atomic<std::size_t> held_{0};  // completions in the ring: who polls an empty one takes no lock
  std::atomic<bool> overflowed_{false};
  // Queue pairs that are gone, or were reset, and how many completions the ring held then: theirs among these go before
  // the next one is taken, or when there is no room, in one sweep for all. With a sweep each, ten thousand queue pairs
  // would end in quadratic time.
  using Discarded = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Discarded> discarded_;

  mutable CompactMutex members_mutex_;
  std::unordered_map<std::uint64_t, Member> members_;                         // by the stream's number
  std::shared_ptr<const Members> few_members_ = std::make_shared<Members>();  // while they are few: replaced, never
                                                                              // changed, so that pollers need no lock
  std::shared_ptr<transport::ReadinessSet> ready_;                            // once there are many and it is polled
  std::vector<std::uint64_t> claimed_;  // by number, since the polling began: each once, and some that have left
  PollHabit polls_;
  std::atomic<bool> few_{true};
  std::atomic<bool> changed_{false};  // few_ became false, or ready_ was made: interests are out of date
};

}  // namespace weft::verbs::detail
