// SPDX-License-Identifier: Apache-2.0
// The state of a queue pair. It exists before and after its stream; while there is one, the stream's lock orders the
// work. The lock here is a leaf: no function is called while it is held.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "verbs/base/compact_mutex.hpp"
#include "verbs/base/queue_pair_numbers.hpp"
#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/stream/served_queue_pair.hpp"

namespace weft::verbs::detail {

class StagTable;

class QueuePairState final : public ServedQueuePair {
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
  Result<void> modify(QpState to, bool tell_drained = true);
  void accept_early_sends();
  void extend(const Extensions& with);  // those that are true
  void leave_peer();
  void give_up_connecting();
  PostResult post_send(std::span<const SendRequest> requests);
  PostResult post_receive(std::span<const ReceiveRequest> requests);
  [[nodiscard]] QueuePairQuery query() const;
  [[nodiscard]] std::uint32_t send_room() const;
  [[nodiscard]] QpState state() const noexcept { return state_.load(); }
  void destroy();

  // --- The connection manager: RESET or INIT -> RTR, reserved for one attempt to make a connection. An attempt that
  // has lost the queue pair (ERROR, destroyed) is told, and is refused here: no second stream gets its number.
  // Returns the state it had.
  Result<QpState> begin_connection(const Attempt& attempt);
  void cancel_connection(const Attempt& attempt, QpState before);
  // The connection did not come about: ERROR, everything flushed; or, with early sends, INIT again. True: the queue
  // pair goes on without the attempt's stream.
  [[nodiscard]] bool connection_failed(const Attempt& attempt);

  // --- ServedQueuePair
  [[nodiscard]] Result<void> set_stream(const Attempt& attempt, std::shared_ptr<Stream> stream) override;
  [[nodiscard]] Beginning established(const Negotiated& negotiated) override;
  [[nodiscard]] bool has_send_room(std::size_t unfinished) noexcept override;
  bool complete_send(const WorkCompletion& completion) override;
  bool complete_receive(const WorkCompletion& completion) override;
  void fail_send(const SendRequest& request, WcStatus status) override;
  void stream_error(const StreamError& error, AsyncEventType type) override;
  void ended_by(const Error& error) override;
  [[nodiscard]] bool peer_left() override;
  [[nodiscard]] Extensions extensions() const override;
  [[nodiscard]] bool fall() override;
  void drained() override;
  void raise(AsyncEventType type, std::optional<StreamError> error = {}) const override;
  [[nodiscard]] bool report_stall(StreamWait wait, Instant now) const override;
  [[nodiscard]] std::uint32_t vendor_error() const override;

  [[nodiscard]] bool shares_receives() const noexcept { return attributes.srq != nullptr; }

 private:
  [[nodiscard]] std::shared_ptr<Stream> stream() const;
  Result<std::shared_ptr<Stream>> move(QpState to, bool tell_drained);
  [[nodiscard]] std::optional<bool> hold_early(QpState to);
  Result<void> reset();
  void flush_receives();
  void discard_completions();
  [[nodiscard]] WcStatus status_of_failed(WcStatus status);
  enum class From : std::uint8_t { kAnyState, kUnconnected };
  void enter_error(From from);
  [[nodiscard]] std::shared_ptr<Stream> give_up_stream();
  [[nodiscard]] bool held_by(const Attempt& attempt) const noexcept;
  bool end(std::unique_lock<CompactMutex> lock);  // as fall()

  // Posts early sends. Returns nothing if the stream takes them, or ERROR flushes them.
  [[nodiscard]] std::optional<PostResult> post_early(std::span<const SendRequest> requests);
  PostResult flush_sends(std::span<const SendRequest> requests);
  void flush_early();  // with flushing_

  const std::shared_ptr<StagTable> stags_;
  const std::shared_ptr<CompletionQueueState> send_cq_;
  const std::shared_ptr<CompletionQueueState> receive_cq_;
  CompactMutex flushing_;  // ERROR's flushes without a stream, and RESET: outside mutex_
  mutable CompactMutex mutex_;
  HeldPlaces* const shared_places_;  // of the shared receive queue; null if there is none
  HeldPlaces receive_places_;
  mutable HeldPlaces send_places_;
  QueuePairNumber held_;
  Quota::Share share_;
  std::atomic<QpState> state_{QpState::kReset};
  enum class Draining : std::uint8_t { kNone, kTold, kUntold };  // which: whether its end is to be told
  Draining draining_ = Draining::kNone;                          // since SQD
  struct Ended {
    bool told = false;               // kLastWqeReached was raised
    std::uint16_t failed_sends = 0;  // completed without success; its maximum stays
  } ended_;
  Attempt attempt_;  // until it is established or has failed
  struct Early {     // until there is a connection
    bool accepted = false;
    bool held = false;  // SQD follows the connection, and not RTS
    Extensions extensions{};
    std::optional<WcStatus> of_oldest{};      // of the oldest send that is flushed, once the connection has failed
    WcStatus end = WcStatus::kRetryExceeded;  // of the oldest, if there is none
    EarlySends sends{};
  } early_;
  std::shared_ptr<Stream> stream_;
  std::optional<Negotiated> negotiated_;
  std::unique_ptr<const StreamError> stream_error_;
  std::unique_ptr<const Error> ended_by_;
  std::optional<AsyncEventType> untold_;  // of stream_error_
};

}  // namespace weft::verbs::detail
