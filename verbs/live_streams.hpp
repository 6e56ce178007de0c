// SPDX-License-Identifier: Apache-2.0
/// @file
/// A snapshot of the process's connections, for monitoring: which peers hold resources without using them, and which
/// peers block a stream (SEC-6.4.2-01, SEC-6.4.4-01).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "verbs/endpoint.hpp"

namespace weft::verbs {

/// Identifies the stage of a connection's life. docs/progress.md describes the transitions.
enum class StreamStage : std::uint8_t {
  kStartup,      ///< the MPA startup frames and the ready-to-receive message are exchanged
  kEstablished,  ///< full operation
  kClosing,      ///< one end closes: posted work is sent, then the FIN
  kFailing,      ///< a Terminate was sent or received, or work failed: the connection is about to end
  kClosed,       ///< only the socket remains to be closed
};
/// Returns a name such as "established"; static storage.
[[nodiscard]] std::string_view to_string(StreamStage stage) noexcept;

/// Identifies the event that a stream needs in order to make progress.
enum class StreamWait : std::uint8_t {
  kNothing,     ///< none: the stream is not blocked
  kReceive,     ///< a receive to be posted: a Send of the peer found none, and reading has stopped
  kPeerWindow,  ///< the peer's window to open: it is closed, and the kernel's send buffer is full
  /// The peer's responses. Outstanding RDMA Reads and atomics block later work: either they have reached the number
  /// that the peer admits (its IRD), or the next work request has a fence.
  kAnswers,
};
/// Returns a name such as "the peer's window"; static storage.
[[nodiscard]] std::string_view to_string(StreamWait wait) noexcept;

/// Describes one connection at the moment when live_streams() inspected it.
struct LiveStream {
  std::uint64_t connection{};       ///< ConnectionId::number() of the local end, as in log lines
  Endpoint local{};                 ///< address and port of the local end
  Endpoint peer{};                  ///< address and port of the peer
  bool initiator{};                 ///< true if the local end connected
  bool same_host{};                 ///< true if the octets go through shared memory: StartupPolicy::same_host
  std::uint32_t queue_pair{};       ///< number of the queue pair; 0 before one is attached and after it is detached
  StreamStage stage{};              ///< stage of the connection's life
  StreamWait waits_for{};           ///< what blocks the stream, if anything
  std::uint64_t octets_in{};        ///< octets read from the TCP connection, including startup frames
  std::uint64_t octets_out{};       ///< octets that the kernel accepted for sending, including startup frames
  std::chrono::milliseconds age{};  ///< time since TCP connected
};

/// Returns all connections of the process, on every device and event channel, the oldest first.
/// Each entry is consistent in itself, but different entries describe different moments. A stream that ends during the
/// call is omitted, and a stream that begins during the call may be.
/// Thread-safe. Takes the lock of each connection in turn; no thread sleeps while it holds such a lock.
/// The time is linear in the number of connections: call it for monitoring, not on the data path.
/// In a child of fork(), returns only the child's own connections.
[[nodiscard]] std::vector<LiveStream> live_streams();

}  // namespace weft::verbs
