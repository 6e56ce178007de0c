// SPDX-License-Identifier: Apache-2.0
// A deadline. The engines' next_deadline() values end up here.
#pragma once

#include <chrono>
#include <memory>

#include "transport/reactor.hpp"

namespace weft::transport {

// The rules of all reactor objects are in transport/reactor.hpp.
class Timer {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  Timer(Reactor& reactor, Task on_expiry);
  ~Timer();  // cancels
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;

  // Replaces an earlier deadline, which then does not fire. Fires once; a deadline in the past fires at once.
  void set(Deadline deadline);
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
