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

// libibverbs' values. See docs of modify() for the transitions.
enum class QpState : std::uint8_t { kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kSqd = 4, kError = 6 };
[[nodiscard]] std::string_view to_string(QpState state) noexcept;

struct QueuePairAttributes {
  const CompletionQueue* send_cq{};
  const CompletionQueue* receive_cq{};
  const SharedReceiveQueue* srq{};  // receives come from here; max_receive_wr and _sge are then ignored
  std::uint32_t max_send_wr = 128;
  std::uint32_t max_receive_wr = 128;
  std::uint32_t max_send_sge = 4;
  std::uint32_t max_receive_sge = 4;
  std::uint32_t max_inline = 256;
  bool signal_all{};        // every send work request is signalled, whatever its flags say
  std::uint64_t context{};  // comes back in async events
};

// What both ends settled on.
struct Negotiated {
  std::uint8_t revision{};
  bool enhanced{};
  bool crc{};
  bool markers_in{};
  bool markers_out{};
  std::uint32_t ird{};
  std::uint32_t ord{};
  std::string_view rtr{};  // "none", "send", "write" or "read"
};

struct QueuePairQuery {
  QpState state{};
  std::uint32_t max_send_wr{};
  std::uint32_t max_receive_wr{};
  std::uint32_t max_send_sge{};
  std::uint32_t max_receive_sge{};
  std::uint32_t max_inline{};
  bool signal_all{};
  std::optional<Negotiated> negotiated{};     // once connected
  std::optional<StreamError> stream_error{};  // why the stream ended, if it ended with a Terminate
};

// The destructor drops what is queued and ends the connection. Where nothing posted is unfinished the TCP connection
// closes in the background, within close_timeout: all Sends and Writes that completed with success arrive at a peer that
// takes them in that time, and a peer that waits for a response of ours is told by a Terminate that none will come.
// Otherwise it ends at once, with a reset (RDMAP-6.2-03). A Terminate under way still goes out.
class QueuePair {
 public:
  QueuePair(QueuePair&&) noexcept = default;
  QueuePair& operator=(QueuePair&& other) noexcept;
  ~QueuePair();

  [[nodiscard]] std::uint32_t number() const noexcept;
  [[nodiscard]] std::uint64_t context() const noexcept;
  [[nodiscard]] QpState state() const noexcept;
  [[nodiscard]] QueuePairQuery query() const;

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
  // opcode, flag or right that does not exist is refused in any state: Errc::kInvalidArgument.
  Result<void> post_send(const SendRequest& request);
  PostResult post_send(std::span<const SendRequest> requests);  // one lock, one sendmsg where possible
  // How many more work requests the send queue takes. Completions add to it; nothing but post_send takes from it.
  [[nodiscard]] std::uint32_t send_room() const;
  // From INIT on. In ERROR: completes with kFlushed.
  Result<void> post_receive(const ReceiveRequest& request);
  PostResult post_receive(std::span<const ReceiveRequest> requests);

 private:
  friend class ProtectionDomain;
  friend class ConnectionId;
  QueuePair() = default;
  detail::Handle<detail::QueuePairState> self_;
};

}  // namespace weft::verbs
