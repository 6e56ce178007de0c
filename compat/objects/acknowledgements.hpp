// SPDX-License-Identifier: Apache-2.0
// Events that a program got and has to acknowledge before the object they are about may go (ibv_ack_cq_events(3),
// ibv_ack_async_event(3), rdma_ack_cm_event(3)).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weft::compat {

class Acknowledgements {
 public:
  void reported() noexcept { open_.fetch_add(1, std::memory_order_relaxed); }
  // One too many is the program's mistake, and harmless. The thread that waits may go on, and destroy this, from the
  // moment when the count is zero: after that only the address is used, to wake it.
  void acknowledged(std::uint32_t count = 1) noexcept {
    std::uint32_t open = open_.load(std::memory_order_relaxed);
    while (!open_.compare_exchange_weak(open, open - std::min(count, open), std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
    }
    if (open <= count) open_.notify_all();
  }
  void wait_for_all() const noexcept {
    for (std::uint32_t open = 0; (open = open_.load(std::memory_order_acquire)) != 0;) open_.wait(open);
  }

 private:
  std::atomic<std::uint32_t> open_{0};
};

}  // namespace weft::compat
