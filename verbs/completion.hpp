// SPDX-License-Identifier: Apache-2.0
// Completion queues and the channels that announce them. All calls may be made from any thread at any time.
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

// How a work request ended; libibverbs' values.
enum class WcStatus : std::uint8_t {
  kSuccess = 0,                // done
  kLocalLengthError = 1,       // a Send was longer than the receive it met
  kLocalQpOperationError = 2,  // never given
  kLocalProtectionError = 4,   // an lkey was wrong or had been deregistered
  kFlushed = 5,                // WR_FLUSH_ERR: the queue pair went to ERROR first
  kWindowBindError = 6,        // a memory window could not be bound: its keys, bounds or rights do not allow it
  kBadResponse = 7,            // the peer's Read or Atomic Response did not answer its request
  kLocalAccessError = 8,       // never given
  kRemoteInvalidRequest = 9,   // never given
  kRemoteAccessError = 10,     // the peer refused access to its memory
  kRemoteOperationError = 11,  // the peer refused it for another reason than access
  kFatalError = 19,            // never given
  kGeneralError = 21,          // never given
};

// What a work request did; libibverbs' values.
enum class WcOpcode : std::uint8_t {
  kSend = 0,                // a Send left, of any kind
  kRdmaWrite = 1,           // an RDMA Write left, with or without Immediate Data
  kRdmaRead = 2,            // what was read is in its place
  kCompareAndSwap = 3,      // the old value is in its place
  kFetchAndAdd = 4,         // the same
  kBindWindow = 5,          // a memory window was bound, or unbound
  kLocalInvalidate = 6,     // an STag of ours is invalid now
  kImmediate = 32,          // our own Immediate Data left
  kReceive = 128,           // a Send arrived in a posted receive
  kReceiveImmediate = 129,  // Immediate Data arrived, alone or behind an RDMA Write
};

// What became of one work request.
struct WorkCompletion {
  std::uint64_t wr_id{};             // of the work request
  WcStatus status{};                 // the fields below, but for qp_num, only mean something on success
  WcOpcode opcode{};                 // what was done
  bool solicited{};                  // receives: the sender asked for a Solicited Event
  bool with_immediate{};             // receives: `immediate` has what came
  bool with_invalidate{};            // receives: the peer has invalidated `invalidated_rkey`
  std::uint32_t byte_len{};          // receives, RDMA Reads and atomics
  std::uint32_t qp_num{};            // QueuePair::number() of the queue pair that it was posted to
  std::uint32_t invalidated_rkey{};  // an STag of ours
  std::uint32_t vendor_error{};      // on failure: layer << 16 | type << 8 | code of the Terminate, if there was one
  ImmediateData immediate{};         // as the peer sent it, octet by octet
};

// "local length error" and the like; static storage.
[[nodiscard]] std::string_view to_string(WcStatus status) noexcept;
[[nodiscard]] std::string_view to_string(WcOpcode opcode) noexcept;  // "RDMA write" and the like; static storage

// Which of the completions to come raise the event that arm() asks for. Failures always count as solicited.
enum class Arm : std::uint8_t {
  kAll,        // any
  kSolicited,  // receives whose sender asked for a Solicited Event
};

// Says that a completion queue has what arm() asked for.
struct CompletionEvent {
  std::uint32_t cq_number{};   // CompletionQueue::number()
  std::uint64_t cq_context{};  // CompletionQueue::context()
};

// Delivers completion events. Its descriptor is readable while events wait: poll it, dup it, or make it non-blocking.
class CompletionChannel {
 public:
  // Errc::kSystem where the process can have no more descriptors.
  [[nodiscard]] static Result<CompletionChannel> create();

  [[nodiscard]] int descriptor() const noexcept;  // weft's own: the program does not close it
  // Waits for an event, unless the descriptor is non-blocking (Errc::kWouldBlock) or a signal arrives (kInterrupted;
  // not when all signal handlers of the process have SA_RESTART). The thread that waits drives the connections whose
  // completions come here, up to 256 of them: what arrives wakes it at once, and not a thread of weft's before it. A
  // thread that waits for the descriptor by other means is served too, a wake-up later.
  [[nodiscard]] Result<CompletionEvent> get_event() const;

 private:
  friend class CompletionQueue;
  friend class Device;
  detail::Handle<detail::ChannelState> self_;
};

// Keeps completions until they are polled. Queue pairs keep it alive; a handle only has to exist for polling.
class CompletionQueue {
 public:
  [[nodiscard]] std::uint32_t number() const noexcept;    // by which events name it
  [[nodiscard]] std::uint64_t context() const noexcept;   // CompletionQueueAttributes::context
  [[nodiscard]] std::uint32_t capacity() const noexcept;  // how many completions it holds; one more is an overflow

  // Takes up to out.size() completions and returns how many. Polling an empty queue makes progress on the connections
  // attached to it, from this thread. After an overflow: Errc::kOverflow, once the queue is empty.
  [[nodiscard]] Result<std::size_t> poll(std::span<WorkCompletion> out);
  // Waits until completions are there and takes up to out.size() of them: returns how many, one at least. The thread
  // polls once, then it sleeps, and uses no processor time meanwhile. What arrives wakes it by way of one of weft's
  // threads, which reads the sockets for it: CompletionChannel::get_event is a wake-up faster.
  //  - Needs no channel and no arm(). Of a queue with a channel the events are as if the thread had polled: none is asked
  //    for, none is taken, and one that arm() has asked for is raised all the same.
  //  - Several threads may wait, poll and wait for events of the same queue at a time. A completion goes to one of them,
  //    and is not left there while another one sleeps.
  //  - Signals do not end it. pthread_cancel() does, and takes no completion along.
  //  - The queue stays while a thread waits for it, even if its last handle is destroyed meanwhile.
  // Errors: kOverflow as poll(); kInvalidArgument when `out` is empty; kInvalidState in a child of fork() that did not
  // make the queue itself, and of a handle that was moved from.
  [[nodiscard]] Result<std::size_t> wait(std::span<WorkCompletion> out);
  // Waits no longer than `at_most`, nor than kMaxTimeout (24 days): Errc::kTimedOut, and no completion is lost then. With
  // 0 it is a poll that says so. A negative time is refused: Errc::kInvalidArgument.
  [[nodiscard]] Result<std::size_t> wait(std::span<WorkCompletion> out, std::chrono::milliseconds at_most);
  // The next completion of that kind raises one event on the channel. Completions already queued do not. A queue
  // without a channel can be armed too, as in libibverbs: nothing comes of it.
  Result<void> arm(Arm which);
  // Errc::kLimitExceeded when it already holds more, for 0, and beyond DeviceLimits::max_cqe.
  Result<void> resize(std::uint32_t capacity);

  // Bookkeeping for facades whose destroy call waits until every event was acknowledged.
  void acknowledge_events(std::uint32_t count) noexcept;
  // Events that were taken, less those acknowledged.
  [[nodiscard]] std::uint32_t unacknowledged_events() const noexcept;

 private:
  friend class Device;
  friend class ProtectionDomain;
  friend class QueuePair;
  detail::Handle<detail::CompletionQueueState> self_;
};

}  // namespace weft::verbs
