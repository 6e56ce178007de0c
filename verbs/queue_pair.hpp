// SPDX-License-Identifier: Apache-2.0
/// @file
/// Queue pairs: the ends of reliable connections. The connection manager connects them (verbs/connection.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "verbs/async_event.hpp"
#include "verbs/completion.hpp"
#include "verbs/shared_receive_queue.hpp"

namespace weft::verbs {

namespace detail {
class QueuePairState;
}

/// Identifies the state of a queue pair. The values are those of libibverbs. QueuePair::modify() lists the transitions.
enum class QpState : std::uint8_t {
  kReset = 0,  ///< new, or reset to that state
  kInit = 1,   ///< accepts receives
  kRtr = 2,    ///< is being connected
  kRts = 3,    ///< connected: accepts and processes all work
  kSqd = 4,    ///< accepts work but does not start sends
  kSqe = 5,    ///< of datagrams: a send has failed at this end, and sends are flushed until RTS
  kError = 6,  ///< flushes all work
};
/// Returns a name such as "RTS"; static storage.
[[nodiscard]] std::string_view to_string(QpState state) noexcept;
/// Returns whether a queue pair in this state can be connected: RESET or INIT.
[[nodiscard]] constexpr bool is_unconnected(QpState state) noexcept {
  return state == QpState::kReset || state == QpState::kInit;
}

/// Specifies a queue pair. The numbers are maxima; each must be within DeviceLimits.
struct QueuePairAttributes {
  const CompletionQueue* send_cq{};     ///< queue for completions of sends; must not be null
  const CompletionQueue* receive_cq{};  ///< queue for completions of receives; must not be null; may equal send_cq
  const SharedReceiveQueue* srq{};      ///< source of receives, or null; if set, max_receive_wr and _sge are ignored
  std::uint32_t max_send_wr = 128;      ///< places of the send queue, at least 1; see QueuePair
  std::uint32_t max_receive_wr = 128;   ///< places of the receive queue
  std::uint32_t max_send_sge = 4;       ///< segments of one send work request
  std::uint32_t max_receive_sge = 4;    ///< segments of one receive work request
  std::uint32_t max_inline = 256;       ///< octets of one work request with SendFlags::kInline
  bool signal_all{};                    ///< reports the success of every send, regardless of SendFlags::kSignaled
  std::uint64_t context{};              ///< application's value, returned in async events
  /// Number to report instead of one that weft assigns, or 0. Must be more than kHighestAssignedNumber and at most
  /// 0xFFFFFF; the caller ensures that it is unique. For programs whose peers address queue pairs by number.
  std::uint32_t number{};

  /// Highest number that weft assigns itself.
  static constexpr std::uint32_t kHighestAssignedNumber = 0x3FFFF;
};

/// Identifies the ready-to-receive indication that opened a peer-to-peer connection (RFC 6581 section 9.2).
enum class Rtr : std::uint8_t {
  kNone,   ///< the connection is not peer-to-peer
  kSend,   ///< a zero-length Send
  kWrite,  ///< a zero-length RDMA Write
  kRead,   ///< a zero-length RDMA Read
};
/// Returns "none", "send", "write" or "read"; static storage.
[[nodiscard]] std::string_view to_string(Rtr rtr) noexcept;

/// Holds the parameters that both ends negotiated.
struct Negotiated {
  std::uint8_t revision{};  ///< MPA revision: 1 or 2
  bool enhanced{};          ///< IRD and ORD were exchanged (RFC 6581)
  bool crc{};               ///< FPDUs have CRCs, in both directions
  bool markers_in{};        ///< the peer sends Markers
  bool markers_out{};       ///< this end sends Markers
  std::uint32_t ird{};      ///< maximum of concurrent RDMA Reads and atomics from the peer: min(own IRD, peer's ORD)
  std::uint32_t ord{};      ///< maximum of concurrent RDMA Reads and atomics to the peer: min(own ORD, peer's IRD)
  Rtr rtr{};                ///< ready-to-receive indication
};

/// Describes the current state of a queue pair, and the maxima that it was created with.
struct QueuePairQuery {
  QpState state{};                            ///< state, as QueuePair::state() returns it
  std::uint32_t max_send_wr{};                ///< QueuePairAttributes::max_send_wr
  std::uint32_t max_receive_wr{};             ///< QueuePairAttributes::max_receive_wr
  std::uint32_t max_send_sge{};               ///< QueuePairAttributes::max_send_sge
  std::uint32_t max_receive_sge{};            ///< QueuePairAttributes::max_receive_sge
  std::uint32_t max_inline{};                 ///< QueuePairAttributes::max_inline
  bool signal_all{};                          ///< QueuePairAttributes::signal_all
  bool draining{};                            ///< in SQD: sends that started before are still under way
  std::uint32_t failed_sends{};               ///< sends that completed without success since RESET; 65535: or more
  std::optional<Negotiated> negotiated{};     ///< negotiated parameters, once connected
  std::optional<StreamError> stream_error{};  ///< error that ended the stream, if it ended with a Terminate
  /// What ended the connection, or began to end it, first: this end's or the peer's close, a timeout of the policy, or
  /// the loss of the TCP connection (os_error: ECONNRESET if the peer reset it). Empty while the connection is in full
  /// operation, and if stream_error or a failed work request is the cause.
  std::optional<Error> end{};
};

/// One end of a connection, with a send queue and a receive queue. ProtectionDomain::create_queue_pair() creates it.
/// Thread-safe.
///
/// A work request occupies one entry of its queue, as on an adapter, until its completion is polled; an unsignaled
/// request that succeeds, until it finishes. A completion queue whose capacity is the sum of the entries of its work
/// queues therefore never overflows. Shared receive queues count once.
///
/// The destructor drops all queued work and ends the connection. A pending Terminate is still sent.
/// If no posted work is unfinished, the TCP connection closes in the background, within TimeoutPolicy::close. All
/// Sends and RDMA Writes that completed with success then reach a peer that accepts them in that time. A peer that
/// still waits for a response is notified by a Terminate.
/// If posted work is unfinished, the connection is reset at once (RDMAP-6.2-03).
class QueuePair {
 public:
  /// Creates an empty handle. It takes assignments; no other member may be called.
  QueuePair() = default;
  /// Takes over the queue pair of another handle, which becomes empty.
  QueuePair(QueuePair&&) noexcept = default;
  /// Replaces this queue pair by `other`. The previous queue pair ends as by the destructor.
  QueuePair& operator=(QueuePair&& other) noexcept;
  /// Ends the connection, as described above.
  ~QueuePair();

  /// Returns the number that identifies this queue pair in completions and events.
  [[nodiscard]] std::uint32_t number() const noexcept;
  /// Returns QueuePairAttributes::context.
  [[nodiscard]] std::uint64_t context() const noexcept;
  /// Returns the current state. The end of the stream can change it at any time.
  [[nodiscard]] QpState state() const noexcept;
  /// Returns the state, the maxima, the negotiated parameters and the error that ended the stream.
  [[nodiscard]] QueuePairQuery query() const;

  /// Changes the state. The application can request these transitions:
  ///  - RESET to INIT.
  ///  - RTS to SQD, which drains the send queue (AsyncEventType::kSendQueueDrained follows), and SQD to RTS.
  ///  - Any state to ERROR, which flushes both queues and closes the connection.
  ///  - Any state to RESET, which discards queued work, bound windows and STags restricted to this queue pair, and ends
  ///    the connection as by the destructor.
  ///
  /// ConnectionId::connect() and accept() lead from INIT through RTR to RTS. The queue pair goes to ERROR by itself
  /// when its stream ends, and already when a Terminate is sent or received. Posted work is then flushed at once,
  /// although the connection may take longer to close (ConnectionEventType::kDisconnected).
  ///
  /// With accept_early_sends(), SQD and RTS are also possible in INIT and RTR: after SQD, sends do not start when the
  /// connection is established, and the queue pair then enters SQD instead of RTS. The state remains INIT or RTR until
  /// then.
  ///
  /// `tell_drained`: with SQD, if true, raises AsyncEventType::kSendQueueDrained once no send is in progress. A change
  /// to RTS before that cancels the event.
  /// Errors: Errc::kInvalidState for any other transition.
  Result<void> modify(QpState to, bool tell_drained = true);

  /// Accepts sends in INIT and RTR too, before there is a connection. RESET ends this mode.
  ///  - Waiting: early sends keep their order and occupy entries of the send queue.
  ///  - Established: they are posted. An early send that the connection does not permit (an RDMA Read although ORD is
  ///    0) completes with WcStatus::kLocalQpOperationError, and the connection ends.
  ///  - Connect fails: the queue pair returns to INIT, and sends go on waiting until give_up_connecting().
  ///  - Peer closes while no send is unfinished: the queue pair returns to INIT instead of ERROR. Receives stay posted,
  ///    and sends wait again.
  ///  - Connection lost while sends are unfinished: the oldest completes with WcStatus::kRetryExceeded.
  ///  - Peer ended it because a Send found no receive within its TimeoutPolicy::no_receive: the oldest unfinished send
  ///    completes with WcStatus::kRnrRetryExceeded, or the next one that is posted if there is none. (The Send itself
  ///    completed when TCP took it.)
  void accept_early_sends();
  /// Allows SendOpcode::kSendWithImmediate on the next connection. Both ends have to call it, and to agree on that by
  /// means of their own, such as private data; call it before connect() or accept(). RESET ends it.
  void combine_immediate();
  /// Delays the completion of a signaled RDMA Write until the peer has placed it, as on InfiniBand, on the next
  /// connection. Otherwise it completes once TCP has the octets. An RDMA Read of no octets follows the RDMA Writes of a
  /// post; at most one is under way. It needs an ORD of at least 1; with an ORD of 0 this function has no effect. If
  /// the peer reports an error, the oldest RDMA Write without a completion gets it. Call this function before connect()
  /// or accept(). RESET ends this mode.
  void confirm_writes();
  /// Limits what the peer may do on the next connection to `rights`, of kRemoteRead, kRemoteWrite and kRemoteAtomic,
  /// whatever the memory grants. A segment that needs another right ends the stream (RFC 5040 section 4.8, access
  /// rights violation). Repeated calls intersect: a right that any call excludes stays excluded. Call this function
  /// before connect() or accept(). RESET ends the limit.
  void limit_peer(Access rights);
  /// Ends the connection like a close by the peer with no unfinished sends: with accept_early_sends(), the queue pair
  /// returns from RTR, RTS or SQD to INIT, receives stay posted, and sends that are posted from now on wait. Unfinished
  /// sends are discarded without a completion. Does nothing in other states, and in RTR before there is a TCP
  /// connection.
  void leave_peer();
  /// Ends the wait for a connection: the oldest early send completes with WcStatus::kRetryExceeded. All other work is
  /// flushed, and the queue pair goes to ERROR, as by modify(). Does nothing in RTS, SQD and ERROR.
  void give_up_connecting();

  /// Posts a work request to the send queue.
  /// Allowed once accept() has returned, or once the initiator's connection is established. Work that a responder posts
  /// before the initiator's first message waits for that message (MPA-7.1.2-17).
  /// On an idle connection, the calling thread sends the octets before the call returns.
  /// In ERROR, the work request completes with WcStatus::kFlushed. An invalid lkey is reported by the completion.
  ///
  /// Errors, none of which posts anything:
  ///  - Errc::kInvalidArgument, in any state, for an opcode, flag or right that does not exist, and for segments that
  ///    do not fit the operation.
  ///  - kInvalidState before there is a connection, unless accept_early_sends() was called, and for RDMA Reads and
  ///    atomics if ORD is 0.
  ///  - kDisconnected while the connection closes, because disconnect() was called or the peer closed. state() remains
  ///    RTS until the connection has closed.
  ///  - kQueueFull, kTooManySegments, kInlineTooLong; kMessageTooLong from 2^32 octets on.
  Result<void> post_send(const SendRequest& request);
  /// Posts several work requests in order. Takes the lock once, and uses one sendmsg() where possible.
  PostResult post_send(std::span<const SendRequest> requests);
  /// Returns how many more work requests the send queue accepts.
  /// Polled completions, and unsignaled requests that succeed, increase the number; only post_send() decreases it.
  [[nodiscard]] std::uint32_t send_room() const;
  /// Posts a receive. Receives are consumed in posting order. In ERROR, the receive completes with WcStatus::kFlushed.
  /// Errors: Errc::kInvalidState in RESET; kQueueFull; kTooManySegments; kInvalidArgument if the queue pair uses a
  /// shared receive queue.
  Result<void> post_receive(const ReceiveRequest& request);
  /// Posts several receives in order.
  PostResult post_receive(std::span<const ReceiveRequest> requests);

 private:
  friend class ProtectionDomain;
  friend class ConnectionId;
  detail::Handle<detail::QueuePairState> self_;
};

}  // namespace weft::verbs
