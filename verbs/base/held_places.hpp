// SPDX-License-Identifier: Apache-2.0
// The places of a work queue that completions hold. A work request that ends with a completion keeps its place until
// the program has polled that completion, as on an adapter: a completion queue with as many entries as its work queues
// have places then never overflows, in whatever order the program posts and polls. A request that succeeds without a
// completion (unsignaled) frees its place when it is done, which is earlier than adapters do.
//
// A completion queue numbers its completions, and gives them out in that order. So a work queue notes the numbers of
// its own, and when it seems full, drops those before the number at the front of the completion queue: posting costs no
// more, and polling nothing, until then. The numbers are protected by the lock that the completion takes anyway.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/bounded_ring.hpp"

namespace weft::verbs::detail {

class HeldPlaces {
 public:
  // `bound`: places of the work queue.
  explicit HeldPlaces(std::uint32_t bound) : numbers_(bound) {}

  // Returns how many places are held, as of the last completion or release. Any thread may call it.
  [[nodiscard]] std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  friend class CompletionQueueState;  // with its lock held:
  void hold(std::uint64_t number) {
    numbers_.push(number);
    update();
  }
  // Releases the places of the completions before `front`. Returns how many.
  std::uint32_t release(std::uint64_t front) noexcept {
    std::uint32_t released = 0;
    for (; !numbers_.empty() && numbers_.front() < front; ++released) numbers_.advance();
    update();
    return released;
  }
  void update() noexcept { count_.store(static_cast<std::uint32_t>(numbers_.size()), std::memory_order_release); }

  std::atomic<std::uint32_t> count_{0};
  BoundedRing<std::uint64_t> numbers_;
};

// A completion queue as the work queues see it whose completions it takes.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  // Releases the places whose completions were polled or discarded. Returns how many.
  virtual std::uint32_t release(HeldPlaces& places) = 0;
};

}  // namespace weft::verbs::detail
