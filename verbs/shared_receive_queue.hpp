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

struct SharedReceiveQueueAttributes {
  std::uint32_t max_wr = 128;
  std::uint32_t max_sge = 1;
  std::uint32_t limit = 0;  // 0: no limit event
  std::uint64_t context{};
};

class SharedReceiveQueue {
 public:
  [[nodiscard]] std::uint32_t number() const noexcept;

  Result<void> post_receive(const ReceiveRequest& request);
  PostResult post_receive(std::span<const ReceiveRequest> requests);

  // Raises kSharedReceiveQueueLimit once, when fewer than `limit` receives are left; then set it anew. 0 disarms.
  Result<void> set_limit(std::uint32_t limit);
  Result<void> resize(std::uint32_t max_wr);
  [[nodiscard]] SharedReceiveQueueAttributes query() const;

 private:
  friend class ProtectionDomain;
  detail::Handle<detail::ReceiveQueue> self_;
};

}  // namespace weft::verbs
