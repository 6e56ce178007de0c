// SPDX-License-Identifier: Apache-2.0
// The state of a queue pair. It exists before and after its stream; while there is one, the stream's lock orders the
// work. The lock here is a leaf: no function is called while it is held.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "verbs/detail/compact_mutex.hpp"
#include "verbs/detail/completion_queue_state.hpp"
#include "verbs/detail/queue_pair_numbers.hpp"
#include "verbs/memory/receive_queue.hpp"
#include "verbs/queue_pair.hpp"

namespace weft::verbs::detail {

class StagTable;
class Stream;
class StreamObserver;

class QueuePairState {
 public:
  struct Parts {
    std::shared_ptr<StagTable> stags{};
    std::shared_ptr<ProtectionDomainState> domain{};
    std::shared_ptr<CompletionQueueState> send_cq{};
    std::shared_ptr<CompletionQueueState> receive_cq{};
    std::shared_ptr<ReceiveQueue> receives{};
  };
  QueuePairState(Parts parts, const QueuePairAttributes& attributes, QueuePairNumber number, Quota::Share share = {});

  // --- The application
  Result<void> modify(QpState to);
  PostResult post_send(std::span<const SendRequest> requests);
  PostResult post_receive(std::span<const ReceiveRequest> requests);
  [[nodiscard]] QueuePairQuery query() const;
  [[nodiscard]] std::uint32_t send_room() const;
  [[nodiscard]] QpState state() const noexcept { return state_.load(); }
  void destroy();

  // --- The connection manager: RESET or INIT -> RTR, reserved for one attempt to make a connection. An attempt that
  // has lost the queue pair (ERROR, destroyed) is told, and is refused here: no second stream gets its number.
  using Attempt = std::weak_ptr<StreamObserver>;
  // Returns the state it had.
  Result<QpState> begin_connection(const Attempt& attempt);
  void cancel_connection(const Attempt& attempt, QpState before);
  [[nodiscard]] Result<void> set_stream(const Attempt& attempt, std::shared_ptr<Stream> stream);
  // The connection did not come about: ERROR, everything flushed.
  void connection_failed(const Attempt& attempt);

  // --- Its stream, which holds its own lock
  void established(const Negotiated& negotiated);
  // Whether one more than `unfinished` sends fits. With the stream's lock held, or none and no stream.
  [[nodiscard]] bool has_send_room(std::size_t unfinished) noexcept;
  // False on overflow, as CompletionQueueState::push().
  bool complete_send(const WorkCompletion& completion);
  bool complete_receive(const WorkCompletion& completion);
  void flush_send(const SendRequest& request);
  void stream_error(const StreamError& error, AsyncEventType type);  // the event follows with fall()
  void ended_by(const Error& error);                                 // before what is flushed for it; the first counts
  // ERROR, and what no stream holds is flushed: the stream fails or has ended. May be called again.
  void fall();
  void drained();
  void raise(AsyncEventType type, std::optional<StreamError> error = {}) const;
  [[nodiscard]] bool tell_stall(StreamWait wait, Instant now) const;  // false: not now
  [[nodiscard]] std::uint32_t vendor_error() const;

  const std::uint32_t number;    // 24 bits, and another's some time after this one is destroyed
  const std::uint64_t identity;  // no other's ever: what is for this queue pair's stream alone is kept by it
  const QueuePairAttributes attributes;
  const Parts parts;
  [[nodiscard]] bool shares_receives() const noexcept { return attributes.srq != nullptr; }

 private:
  [[nodiscard]] std::shared_ptr<Stream> stream() const;
  Result<std::shared_ptr<Stream>> move(QpState to);
  Result<void> reset();
  void flush_receives();
  void discard_completions();
  void enter_error();
  [[nodiscard]] bool held_by(const Attempt& attempt) const noexcept;
  void end(std::unique_lock<CompactMutex> lock);

  PostResult flush_sends(std::span<const SendRequest> requests);

  CompactMutex flushing_;  // ERROR's flushes without a stream, and RESET: outside mutex_
  mutable CompactMutex mutex_;
  HeldPlaces* const shared_places_;  // of the shared receive queue; null if there is none
  HeldPlaces receive_places_;
  mutable HeldPlaces send_places_;
  QueuePairNumber held_;
  Quota::Share share_;
  std::atomic<QpState> state_{QpState::kReset};
  Attempt attempt_;     // until it is established or has failed
  bool ended_ = false;  // kLastWqeReached was raised
  std::shared_ptr<Stream> stream_;
  std::optional<Negotiated> negotiated_;
  std::unique_ptr<const StreamError> stream_error_;
  std::unique_ptr<const Error> ended_by_;
  std::optional<AsyncEventType> untold_;  // of stream_error_
};

[[nodiscard]] Error full_send_queue();

}  // namespace weft::verbs::detail
