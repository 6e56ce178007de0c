// SPDX-License-Identifier: Apache-2.0
// Work that any thread may request and one thread at a time performs. A thread that requests it while another performs
// it does not wait, and its request is not lost: the other thread performs the work once more. A try-lock cannot
// guarantee that, because its holder does not know that another thread left.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::verbs::detail {

class CoalescedWork {
 public:
  // After this call the work was done from its beginning, or another thread is bound to do so. It must not throw.
  template <typename Work>
  void run(Work work) noexcept {
    if (asked_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
    std::uint32_t seen = 1;
    do work();
    while (!asked_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));  // else others asked since
  }
  [[nodiscard]] bool runs() const noexcept { return asked_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<std::uint32_t> asked_{0};  // calls since no thread was at it
};

}  // namespace weft::verbs::detail
