// SPDX-License-Identifier: Apache-2.0
// Queue pairs: one reliable connection each. A queue pair meets its stream through the connection manager
// (connection.hpp).
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

// The states of a queue pair, with libibverbs' values. QueuePair::modify() has the transitions.
enum class QpState : std::uint8_t {
  kReset = 0,  // new, or as new
  kInit = 1,   // takes receives
  kRtr = 2,    // a connection is being made
  kRts = 3,    // connected: takes all work
  kSqd = 4,    // takes work, and starts none
  kError = 6,  // flushes all work
};
[[nodiscard]] std::string_view to_string(QpState state) noexcept;  // "RTS" and the like; static storage

// What a queue pair is made with. The numbers are bounds, each within DeviceLimits.
struct QueuePairAttributes {
  const CompletionQueue* send_cq{};     // completions of its sends; must be there
  const CompletionQueue* receive_cq{};  // of its receives; must be there, and may be the same
  const SharedReceiveQueue* srq{};      // receives come from here; max_receive_wr and _sge are then ignored
  std::uint32_t max_send_wr = 128;      // uncompleted work requests of the send queue, at least 1
  std::uint32_t max_receive_wr = 128;   // posted receives
  std::uint32_t max_send_sge = 4;       // segments of a gather list
  std::uint32_t max_receive_sge = 4;    // segments of a scatter list
  std::uint32_t max_inline = 256;       // octets of a work request with SendFlags::kInline
  bool signal_all{};                    // every send work request is signalled, whatever its flags say
  std::uint64_t context{};              // comes back in async events
};

// What both ends settled on.
struct Negotiated {
  std::uint8_t revision{};  // of MPA: 1 or 2
  bool enhanced{};          // IRD and ORD were exchanged (RFC 6581)
  bool crc{};               // FPDUs have CRCs, in both directions
  bool markers_in{};        // what the peer sends has Markers
  bool markers_out{};       // what we send has Markers
  std::uint32_t ird{};      // RDMA Reads and atomics of the peer at a time
  std::uint32_t ord{};      // ours at a time
  std::string_view rtr{};   // "none", "send", "write" or "read"
};

// A queue pair as it is at this moment; the bounds are those that it was made with.
struct QueuePairQuery {
  QpState state{};                            // as QueuePair::state()
  std::uint32_t max_send_wr{};                // QueuePairAttributes::max_send_wr
  std::uint32_t max_receive_wr{};             // QueuePairAttributes::max_receive_wr
  std::uint32_t max_send_sge{};               // QueuePairAttributes::max_send_sge
  std::uint32_t max_receive_sge{};            // QueuePairAttributes::max_receive_sge
  std::uint32_t max_inline{};                 // QueuePairAttributes::max_inline
  bool signal_all{};                          // QueuePairAttributes::signal_all
  std::optional<Negotiated> negotiated{};     // once connected
  std::optional<StreamError> stream_error{};  // why the stream ended, if it ended with a Terminate
};

// One end of a connection, with its send queue and its receive queue. All calls may be made from any thread at any
// time.
//
// The destructor drops what is queued and ends the connection. Where nothing posted is unfinished the TCP connection
// closes in the background, within close_timeout: all Sends and Writes that completed with success arrive at a peer
// that takes them in that time, and a peer that waits for a response of ours is told by a Terminate that none will
// come. Otherwise it ends at once, with a reset (RDMAP-6.2-03). A Terminate under way still goes out.
class QueuePair {
 public:
  QueuePair(QueuePair&&) noexcept = default;
  QueuePair& operator=(QueuePair&& other) noexcept;  // what this was before ends as with the destructor
  ~QueuePair();                                      // ends the connection

  [[nodiscard]] std::uint32_t number() const noexcept;   // by which completions and events name it
  [[nodiscard]] std::uint64_t context() const noexcept;  // QueuePairAttributes::context
  [[nodiscard]] QpState state() const noexcept;          // as it is at this moment; a stream that ends changes it
  [[nodiscard]] QueuePairQuery query() const;  // its state, its bounds, and what its stream settled on or ended with

  // RESET -> INIT; RTS -> SQD (drain: kSendQueueDrained follows) and back; any -> ERROR (flush both queues, close);
  // any -> RESET. INIT -> RTR -> RTS is done by connect and accept. Anything else: Errc::kInvalidState.
  // RESET forgets all that the queue pair and its stream had: what is queued, bound windows, STags for it alone. The
  // connection ends as with the destructor.
  // It falls into ERROR by itself when its stream ends, and already when a Terminate is sent or received: what is
  // posted is flushed then, though the connection may take a while to close (kDisconnected).
  Result<void> modify(QpState to);

  // From when accept returned, or when the initiator's connection is established; what a responder posts before the
  // initiator's first message waits for it (MPA-7.1.2-17). On an idle connection the octets leave from this thread,
  // before the call returns. In ERROR: completes with kFlushed. While the connection closes (disconnect was called, or
  // the peer closed), which state() shows as RTS until it has closed: Errc::kDisconnected, and nothing is posted. An
  // opcode, flag or right that does not exist is refused in any state: Errc::kInvalidArgument. Before there is a
  // connection: kInvalidState, as for reads and atomics where ORD is 0. Otherwise kQueueFull, kTooManySegments,
  // kInlineTooLong or kMessageTooLong (2^32 octets). A wrong lkey is told by the completion.
  Result<void> post_send(const SendRequest& request);
  PostResult post_send(std::span<const SendRequest> requests);  // one lock, one sendmsg where possible
  // How many more work requests the send queue takes. Completions add to it; nothing but post_send takes from it.
  [[nodiscard]] std::uint32_t send_room() const;
  // From INIT on, else Errc::kInvalidState. In ERROR: completes with kFlushed. kQueueFull, kTooManySegments; and
  // kInvalidArgument where receives come from a shared receive queue.
  Result<void> post_receive(const ReceiveRequest& request);
  // The same for many. They are used in the order of posting.
  PostResult post_receive(std::span<const ReceiveRequest> requests);

 private:
  friend class ProtectionDomain;
  friend class ConnectionId;
  QueuePair() = default;
  detail::Handle<detail::QueuePairState> self_;
};

}  // namespace weft::verbs
