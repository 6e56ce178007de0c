// SPDX-License-Identifier: Apache-2.0
// Receives that several queue pairs take from.
#pragma once

#include <cstdint>
#include <span>

#include "verbs/handle.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs {

namespace detail {
class ReceiveQueue;
}

// What a shared receive queue is made with.
struct SharedReceiveQueueAttributes {
  std::uint32_t max_wr = 128;  // posted receives, at least 1 and at most DeviceLimits::max_srq_wr
  std::uint32_t max_sge = 1;   // segments of one receive
  std::uint32_t limit = 0;     // 0: no limit event
  std::uint64_t context{};     // comes back in async events
};

// Receives that are posted once, for any queue pair that has it. Queue pairs that take from it keep it alive. All calls
// may be made from any thread at any time.
class SharedReceiveQueue {
 public:
  [[nodiscard]] std::uint32_t number() const noexcept;  // by which events name it

  // Errc::kQueueFull when it holds max_wr receives that are not completed; kTooManySegments.
  Result<void> post_receive(const ReceiveRequest& request);
  // The same for many. They are used in the order of posting, whichever queue pair asks.
  PostResult post_receive(std::span<const ReceiveRequest> requests);

  // Raises kSharedReceiveQueueLimit once, when fewer than `limit` receives are left; then set it anew. 0 disarms.
  // Errc::kInvalidArgument when it is more than max_wr.
  Result<void> set_limit(std::uint32_t limit);
  // Errc::kLimitExceeded for 0 or more than the device can do; kBusy for less than it has held already.
  Result<void> resize(std::uint32_t max_wr);
  [[nodiscard]] SharedReceiveQueueAttributes query() const;  // as it is at this moment; `limit` is 0 once it was told

 private:
  friend class ProtectionDomain;
  detail::Handle<detail::ReceiveQueue> self_;
};

}  // namespace weft::verbs
