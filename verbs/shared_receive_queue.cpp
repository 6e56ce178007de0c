// SPDX-License-Identifier: Apache-2.0
#include "verbs/shared_receive_queue.hpp"

#include "verbs/memory/receive_queue.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

std::uint32_t SharedReceiveQueue::number() const noexcept { return self_->number(); }

Result<void> SharedReceiveQueue::post_receive(const ReceiveRequest& request) {
  const auto posted = self_->post(std::span(&request, 1));
  if (!posted) return std::unexpected(posted.error().error);
  return {};
}

PostResult SharedReceiveQueue::post_receive(std::span<const ReceiveRequest> requests) { return self_->post(requests); }
Result<void> SharedReceiveQueue::set_limit(std::uint32_t limit) { return self_->set_limit(limit); }
Result<void> SharedReceiveQueue::resize(std::uint32_t max_wr) { return self_->resize(max_wr); }

SharedReceiveQueueAttributes SharedReceiveQueue::query() const {
  const auto shape = self_->shape();
  return {.max_wr = shape.max_wr, .max_sge = shape.max_sge, .limit = shape.limit, .context = shape.context};
}

}  // namespace weft::verbs
