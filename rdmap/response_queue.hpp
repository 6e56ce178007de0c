// SPDX-License-Identifier: Apache-2.0
// The peer's RDMA Reads and atomics that wait for our response: at most IRD of them (RDMAP-6.1-09), answered in the
// order of arrival (RDMAP-5.2.2-07, RDMAPX-5.2.2-11). Reads and atomics share the queue and its bound (RDMAPX-5.2-03).
#pragma once

#include <cstdint>
#include <expected>
#include <variant>

#include "common/bounded_ring.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/errors.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::rdmap {

struct InboundRequest {
  SegmentInError segment{};  // its last, as it came: quoted if answering fails (RDMAP-4.8-13, RDMAP-4.8-15)
  std::variant<ReadRequest, AtomicRequest> request{};
  std::uint64_t stream_offset{};  // of its FPDU, for the log
};

class ResponseQueue {
 public:
  explicit ResponseQueue(std::uint32_t ird) : waiting_(ird) {}

  // A delivered request. One more than IRD is a catastrophic error of the stream; DDP's queue 1, bounded by the same
  // IRD, normally refuses it before (DDP-7.1-02).
  std::expected<void, OperationError> push(const InboundRequest& request) {
    if (!waiting_.push(request)) return std::unexpected(OperationError::kCatastrophicStream);
    return {};
  }

  [[nodiscard]] std::uint32_t ird() const noexcept { return static_cast<std::uint32_t>(waiting_.bound()); }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(waiting_.size()); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  // Not to be called when empty.
  [[nodiscard]] const InboundRequest& front() const noexcept { return waiting_.front(); }
  // The response has been handed to DDP. Post a buffer to queue 1.
  void pop() noexcept { waiting_.pop(); }
  void clear() noexcept { waiting_.clear(); }  // after a Terminate nothing is answered any more (RDMAP-5.4-10)

 private:
  BoundedRing<InboundRequest> waiting_;
};

}  // namespace weft::rdmap
