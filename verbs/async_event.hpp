// SPDX-License-Identifier: Apache-2.0
/// @file
/// Asynchronous events of a device: everything that is reported other than by a completion.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "verbs/live_streams.hpp"
#include "verbs/stream_error.hpp"

namespace weft::verbs {

/// Identifies the kind of an asynchronous event. The values are those of libibverbs.
/// Interface changes are reported only after the process has called Device::get_async_event(), or has had a connection
/// or a listener. They do not affect existing connections by themselves: TCP decides when one is lost.
enum class AsyncEventType : std::uint8_t {
  kCompletionQueueError = 0,      ///< a completion queue overflowed
  kQueuePairFatal = 1,            ///< the stream ended because of a local error or an error of the transport
  kQueuePairRequestError = 2,     ///< the peer sent an invalid request, other than an access error
  kQueuePairAccessError = 3,      ///< the peer attempted an access that local memory does not permit
  kCommunicationEstablished = 4,  ///< never raised: messages that arrive early are held back
  kSendQueueDrained = 5,          ///< the send queue is idle after modify(QpState::kSqd)
  kDeviceFatal = 8,               ///< the network interface of the device is gone
  kPortActive = 9,                ///< the network interface is up
  kPortError = 10,                ///< the network interface is down
  kSharedReceiveQueueError = 14,  ///< never raised
  kSharedReceiveQueueLimit = 15,  ///< fewer receives are left than SharedReceiveQueue::set_limit() specified
  kLastWqeReached = 16,           ///< a queue pair with a shared receive queue will not take another receive
  kAddressChange = 18,            ///< the interface has another hardware address, or other IP addresses (GID change)
  kEventsLost = 64,               ///< the event queue overflowed and lost events; not in libibverbs
  /// A stream has stalled for TimeoutPolicy::tell_stalls_after. Not in libibverbs, and raised only if that member is
  /// not 0. Raised once per stall. Limited to 100 per second and device; further events follow later if the stall
  /// persists.
  kStreamStalled = 65,
};

/// Returns a name such as "queue pair fatal error"; static storage.
[[nodiscard]] std::string_view to_string(AsyncEventType type) noexcept;

/// Describes one event, as Device::get_async_event() returns it.
struct AsyncEvent {
  AsyncEventType type{};               ///< kind of the event; determines which of the other members are valid
  std::uint32_t number{};              ///< number of the queue pair, completion queue or shared receive queue
  std::uint64_t context{};             ///< context that the object was created with
  std::optional<StreamError> error{};  ///< why the stream of a queue pair ended, if known
  StreamWait waits_for{};              ///< kStreamStalled: what the stream waits for
};

}  // namespace weft::verbs
