// SPDX-License-Identifier: Apache-2.0
// Events that a program got and has to acknowledge before the object they are about may go (ibv_ack_cq_events(3),
// ibv_ack_async_event(3), rdma_ack_cm_event(3)).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace weft::compat {

class Acknowledgements {
 public:
  void reported() {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  void acknowledged(std::uint64_t count = 1) {
    const std::lock_guard lock(mutex_);
    open_ = count < open_ ? open_ - count : 0;  // one too many is the program's mistake, and harmless
    changed_.notify_all();
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t open_ = 0;
};

}  // namespace weft::compat
