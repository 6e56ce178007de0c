// SPDX-License-Identifier: Apache-2.0
// The connections that the process has at this moment, for a program that watches over them: which peers hold resources
// and do nothing, and which let it wait (SEC-6.4.2-01, SEC-6.4.4-01).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "verbs/endpoint.hpp"

namespace weft::verbs {

// Where a connection is in its life. docs/progress.md has what leads from one to the next.
enum class StreamStage : std::uint8_t {
  kStartup,      // MPA start-up frames, and the ready-to-receive message
  kEstablished,  // full operation
  kClosing,      // one end wants the end: what is posted goes out, then the FIN
  kFailing,      // a Terminate was sent or received, or work failed: only the end is still to come
  kClosed,       // nothing is left to do but to close the socket
};
[[nodiscard]] std::string_view to_string(StreamStage stage) noexcept;  // "established" and the like; static storage

// What has to happen before the stream goes on.
enum class StreamWait : std::uint8_t {
  kNothing,     // it goes on as octets come and work is posted
  kReceive,     // the program posts a receive: a Send of the peer found none, and nothing behind it is read
  kPeerWindow,  // the peer takes octets: its window is closed, and all that the kernel keeps for it is full
  kAnswers,  // the peer answers: RDMA Reads and atomics wait, as many as it admits (its IRD) or a fence stands behind
};
// "the peer's window" and the like; static storage.
[[nodiscard]] std::string_view to_string(StreamWait wait) noexcept;

// One connection at the moment when live_streams() looked at it.
struct LiveStream {
  std::uint64_t connection{};  // ConnectionId::number() of its end here, by which the log names it
  Endpoint local{};            // address and port of this end
  Endpoint peer{};             // of the other end
  bool initiator{};            // this end connected
  std::uint32_t queue_pair{};  // its number; 0: it has none, yet or any more
  StreamStage stage{};         // of its life
  StreamWait waits_for{};      // what holds it up, if anything does
  // Of the TCP connection, start-up frames included: read here, and taken by the kernel to be sent.
  std::uint64_t octets_in{};
  std::uint64_t octets_out{};       // as octets_in, the other way
  std::chrono::milliseconds age{};  // since TCP was connected
};

// All of the process, whichever device and channel they belong to, the oldest first. Each entry is true of one moment,
// but not all of the same: a stream that has ended meanwhile is left out, one that began meanwhile may be. In any
// thread; waits for each connection's lock, which no thread holds while it sleeps. It takes a moment for each
// connection, so it is for a program's monitoring and not for its data path. In a child of fork(): its own only.
[[nodiscard]] std::vector<LiveStream> live_streams();

}  // namespace weft::verbs
