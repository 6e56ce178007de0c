// SPDX-License-Identifier: Apache-2.0
// Asynchronous events of a device: what happened that is not a completion.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "verbs/live_streams.hpp"

namespace weft::verbs {

// What has happened; libibverbs' values.
enum class AsyncEventType : std::uint8_t {
  kCompletionQueueError = 0,      // overflow
  kQueuePairFatal = 1,            // the stream ended because of an error of ours or of the transport
  kQueuePairRequestError = 2,     // the peer sent an invalid request, other than an access error
  kQueuePairAccessError = 3,      // the peer tried an access that our memory does not give
  kCommunicationEstablished = 4,  // never raised: what comes early waits
  kSendQueueDrained = 5,          // after modify(SQD)
  kDeviceFatal = 8,               // never raised
  kSharedReceiveQueueError = 14,  // never raised
  kSharedReceiveQueueLimit = 15,  // fewer receives are left than SharedReceiveQueue::set_limit() asked for
  kLastWqeReached = 16,           // a queue pair with a shared receive queue takes no further receive
  kEventsLost = 64,               // the bounded queue of events overflowed; not in libibverbs
  // The stream has waited for Policy::tell_stalls_after; not in libibverbs, and raised only where that is set. Once for
  // each stall, and for a device a hundred in a second; what is beyond that comes later, if it still holds.
  kStreamStalled = 65,
};

// "queue pair fatal error" and the like; static storage.
[[nodiscard]] std::string_view to_string(AsyncEventType type) noexcept;

// How a stream ended, as the Terminate message spells it (RFC 5040 section 4.8).
struct StreamError {
  bool remote{};                // the peer's Terminate; else we found the error ourselves
  std::uint8_t layer{};         // 0 RDMAP, 1 DDP, 2 LLP
  std::uint8_t type{};          // of the error, within its layer
  std::uint8_t code{};          // of the error, within its type
  std::string_view clause{};    // id of the clause that was broken; static storage
  std::string_view sentence{};  // for people; static storage
  // Where the FPDU begins, in octets of the peer's FPDU stream: 0 is the first octet behind its MPA start-up frame, not
  // the first octet of the TCP connection.
  std::uint64_t stream_offset{};
};

// One event, as Device::get_async_event() gives it.
struct AsyncEvent {
  AsyncEventType type{};               // says which of the members below mean something
  std::uint32_t number{};              // of the queue pair, completion queue or shared receive queue
  std::uint64_t context{};             // what its creator gave it
  std::optional<StreamError> error{};  // why a queue pair's stream ended, where that is known
  StreamWait waits_for{};              // kStreamStalled
};

}  // namespace weft::verbs
