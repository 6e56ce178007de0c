// SPDX-License-Identifier: Apache-2.0
/// @file
/// Completion queues, and the channels that notify of completions. All functions are thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "verbs/handle.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs {

namespace detail {
class CompletionQueueState;
class ChannelState;
}  // namespace detail

/// Identifies how a work request ended. The values are those of libibverbs.
enum class WcStatus : std::uint8_t {
  kSuccess = 0,                ///< completed
  kLocalLengthError = 1,       ///< a Send of the peer was longer than the receive that it matched
  kLocalQpOperationError = 2,  ///< an early send that the established connection does not permit
  kLocalProtectionError = 4,   ///< a segment was invalid; ProtectionDomain::check() names it and the reason
  /// The queue pair went to ERROR before the work request was done (WR_FLUSH_ERR). The reason is, in this order: the
  /// first completion of the queue pair that failed otherwise, QueuePairQuery::stream_error, QueuePairQuery::end.
  kFlushed = 5,
  kWindowBindError = 6,        ///< a memory window could not be bound: its keys, bounds or rights do not permit it
  kBadResponse = 7,            ///< the peer's Read or Atomic Response did not match its request
  kLocalAccessError = 8,       ///< never used
  kRemoteInvalidRequest = 9,   ///< never used
  kRemoteAccessError = 10,     ///< the peer denied access to its memory; reason: QueuePairQuery::stream_error
  kRemoteOperationError = 11,  ///< the peer refused the request otherwise; reason: QueuePairQuery::stream_error
  /// No connection was established in time for a send that waited for it (QueuePair::accept_early_sends()).
  kRetryExceeded = 12,
  /// The peer had no receive for an earlier Send in time, and ended the connection (QueuePair::accept_early_sends()).
  kRnrRetryExceeded = 13,
  kFatalError = 19,    ///< never used
  kGeneralError = 21,  ///< never used
};

/// Identifies what a work request did. The values are those of libibverbs, except 32 to 127, which it lacks.
enum class WcOpcode : std::uint8_t {
  kSend = 0,                ///< a Send of any kind was sent
  kRdmaWrite = 1,           ///< an RDMA Write was sent, with or without Immediate Data
  kRdmaRead = 2,            ///< the data of an RDMA Read was placed
  kCompareAndSwap = 3,      ///< the old value of a compare-and-swap was placed
  kFetchAndAdd = 4,         ///< the old value of a fetch-and-add was placed
  kBindWindow = 5,          ///< a memory window was bound or unbound
  kLocalInvalidate = 6,     ///< a local STag was invalidated
  kImmediate = 32,          ///< Immediate Data was sent
  kReceive = 128,           ///< a Send arrived in a posted receive
  kReceiveImmediate = 129,  ///< Immediate Data arrived, alone or after an RDMA Write
};

/// Returns whether libibverbs lacks the operation.
[[nodiscard]] constexpr bool is_weft_only(WcOpcode opcode) noexcept {
  return opcode >= static_cast<WcOpcode>(32) && opcode < WcOpcode::kReceive;
}

/// Describes how one work request ended.
/// If `status` is not WcStatus::kSuccess, only wr_id, status, qp_num and vendor_error are valid.
struct WorkCompletion {
  std::uint64_t wr_id{};     ///< wr_id of the work request
  WcStatus status{};         ///< how the work request ended
  WcOpcode opcode{};         ///< what the work request did
  bool solicited{};          ///< receives: the sender requested a Solicited Event
  bool with_immediate{};     ///< receives: `immediate` is valid
  bool with_invalidate{};    ///< receives: the peer invalidated `invalidated_rkey`
  bool with_route_header{};  ///< receives of datagrams: DatagramQueuePair::kHeaderSize octets precede the payload
  /// Receives of a Send, RDMA Reads and atomics: number of octets placed. kReceiveImmediate: number of octets of the
  /// RDMA Write before the Immediate Data, or 0 if a Send or other Immediate Data came in between.
  std::uint32_t byte_len{};
  std::uint32_t qp_num{};            ///< QueuePair::number() of the queue pair that the work request was posted to
  std::uint32_t source_qp{};         ///< receives of datagrams: number of the sender's queue pair; else 0
  std::uint32_t invalidated_rkey{};  ///< local STag that the peer invalidated
  std::uint32_t vendor_error{};      ///< failures but kFlushed: layer << 16 | type << 8 | code of the Terminate; else 0
  ImmediateData immediate{};         ///< Immediate Data in the peer's octet order
};

/// Returns a name such as "local length error"; static storage.
[[nodiscard]] std::string_view to_string(WcStatus status) noexcept;
/// Returns a name such as "RDMA write"; static storage.
[[nodiscard]] std::string_view to_string(WcOpcode opcode) noexcept;

/// Selects the completions that raise the event requested by CompletionQueue::arm().
/// Failures always count as solicited.
enum class Arm : std::uint8_t {
  kAll,        ///< every completion
  kSolicited,  ///< receives whose sender requested a Solicited Event
};

/// Reports that an armed completion queue has received a matching completion.
struct CompletionEvent {
  std::uint32_t cq_number{};   ///< CompletionQueue::number()
  std::uint64_t cq_context{};  ///< CompletionQueue::context()
};

/// Delivers completion events. The descriptor is readable while events are pending.
class CompletionChannel {
 public:
  /// Creates a channel. Errors: Errc::kSystem if the process cannot open another descriptor.
  [[nodiscard]] static Result<CompletionChannel> create();

  /// Returns the descriptor of the channel, which weft owns: the program must not close it.
  /// The program may poll it, duplicate it, or make it non-blocking.
  [[nodiscard]] int descriptor() const noexcept;
  /// Returns the next event. Waits for one unless the descriptor is non-blocking.
  /// While it waits, this thread reads the sockets of up to 256 connections itself, which saves a wake-up per message:
  /// a progress thread wakes a thread that waits for the descriptor by other means.
  /// Errors: Errc::kWouldBlock if the descriptor is non-blocking and no event is pending; kInterrupted if a signal
  /// arrives, unless all signal handlers of the process have SA_RESTART.
  [[nodiscard]] Result<CompletionEvent> get_event() const;

 private:
  friend class CompletionQueue;
  friend class Device;
  detail::Handle<detail::ChannelState> self_;
};

/// Holds completions until they are polled. Device::create_completion_queue() creates it.
/// Queue pairs that use the queue keep it alive; the program needs the handle only for polling.
class CompletionQueue {
 public:
  /// Returns true in a child of fork() for a queue that its parent created. wait() fails there with
  /// Errc::kInvalidState, and destroying the queue has no effect.
  [[nodiscard]] bool is_parents() const noexcept;
  /// Returns the number that identifies this queue in events.
  [[nodiscard]] std::uint32_t number() const noexcept;
  /// Returns CompletionQueueAttributes::context.
  [[nodiscard]] std::uint64_t context() const noexcept;
  /// Returns how many completions the queue holds. One more is an overflow.
  [[nodiscard]] std::uint32_t capacity() const noexcept;

  /// Removes up to out.size() completions and returns their number. Never waits.
  /// Polling an empty queue makes progress on the attached connections in the calling thread.
  /// Errors: Errc::kOverflow if the queue has overflowed, once all completions in it have been returned.
  [[nodiscard]] Result<std::size_t> poll(std::span<WorkCompletion> out);
  /// Waits for completions, removes up to out.size() of them and returns their number, which is at least 1.
  /// The thread polls once and then sleeps without using processor time. A progress thread reads the sockets meanwhile
  /// and wakes the thread; CompletionChannel::get_event() saves that additional wake-up.
  ///  - Needs neither a channel nor arm(). For a queue with a channel, it behaves as poll(): it does not request or
  ///    consume events, and an event that arm() requested is still raised.
  ///  - Several threads may wait, poll and wait for events of the same queue concurrently. Each completion goes to one
  ///    of them and is never left in the queue while another one sleeps.
  ///  - Signals do not end the wait. pthread_cancel() does, and loses no completion.
  ///  - The queue stays alive while a thread waits for it, even if its last handle is destroyed meanwhile.
  ///
  /// Errors: Errc::kOverflow as in poll(); kInvalidArgument if `out` is empty; kInvalidState for a handle that was
  /// moved from, and in a child of fork() if the child did not create the queue; kInterrupted after interrupt_wait().
  [[nodiscard]] Result<std::size_t> wait(std::span<WorkCompletion> out);
  /// Waits as above, but at most `at_most`. Times beyond kMaxTimeout (24 days) count as kMaxTimeout, and 0 only polls.
  /// Additional errors: Errc::kTimedOut if no completion arrived in time, without losing any; kInvalidArgument if
  /// `at_most` is negative.
  [[nodiscard]] Result<std::size_t> wait(std::span<WorkCompletion> out, std::chrono::milliseconds at_most);
  /// Makes one wait(), current or next, return Errc::kInterrupted if the queue is empty. Repeated calls before that
  /// coalesce.
  void interrupt_wait();
  /// Requests one event on the channel for the next completion that `which` selects.
  /// Completions that are already in the queue do not raise it. For a queue without a channel, it has no effect.
  Result<void> arm(Arm which);
  /// Changes the capacity.
  /// Errors: Errc::kLimitExceeded for 0, beyond DeviceLimits::max_cqe, and if the queue currently holds more.
  Result<void> resize(std::uint32_t capacity);

  /// Records that the program has handled `count` events.
  /// It is bookkeeping for facades whose destroy call waits until every event is acknowledged, and has no other effect.
  void acknowledge_events(std::uint32_t count) noexcept;
  /// Returns the number of events that were returned by get_event() and not acknowledged.
  [[nodiscard]] std::uint32_t unacknowledged_events() const noexcept;

 private:
  friend class Device;
  friend class ProtectionDomain;
  friend class QueuePair;
  detail::Handle<detail::CompletionQueueState> self_;
};

}  // namespace weft::verbs
