// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shared receive queues: receives that several queue pairs consume.
#pragma once

#include <cstdint>
#include <span>

#include "verbs/handle.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs {

namespace detail {
class ReceiveQueue;
}

/// Specifies a shared receive queue.
struct SharedReceiveQueueAttributes {
  std::uint32_t max_wr = 128;  ///< places, 1 to DeviceLimits::max_srq_wr; see QueuePair
  std::uint32_t max_sge = 1;   ///< maximum of segments of one receive
  std::uint32_t limit = 0;     ///< threshold of the limit event, as in SharedReceiveQueue::set_limit(); 0: no event
  std::uint64_t context{};     ///< application's value, returned in async events
};

/// Holds posted receives for all queue pairs that were created with this queue.
/// Those queue pairs keep the queue alive. Thread-safe.
class SharedReceiveQueue {
 public:
  /// Returns the number that identifies this queue in events.
  [[nodiscard]] std::uint32_t number() const noexcept;

  /// Posts one receive.
  /// Errors: Errc::kQueueFull if all places are occupied by receives whose completions were not polled;
  /// kTooManySegments.
  Result<void> post_receive(const ReceiveRequest& request);
  /// Posts several receives. They are consumed in posting order, by any of the queue pairs.
  PostResult post_receive(std::span<const ReceiveRequest> requests);

  /// Sets the threshold of the limit event. 0 disables the event.
  /// AsyncEventType::kSharedReceiveQueueLimit is raised once when fewer than `limit` receives are left, and immediately
  /// if that is already so. The threshold then returns to 0; call set_limit() again for another event.
  /// Errors: Errc::kInvalidArgument if `limit` is more than max_wr.
  Result<void> set_limit(std::uint32_t limit);
  /// Changes the number of places.
  /// Errors: Errc::kLimitExceeded for 0 and beyond DeviceLimits::max_srq_wr; kBusy if the queue has already held more.
  Result<void> resize(std::uint32_t max_wr);
  /// Returns the current attributes. `limit` is 0 after its event was raised.
  [[nodiscard]] SharedReceiveQueueAttributes query() const;

 private:
  friend class ProtectionDomain;
  detail::Handle<detail::ReceiveQueue> self_;
};

}  // namespace weft::verbs
