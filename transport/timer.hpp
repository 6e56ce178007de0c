// SPDX-License-Identifier: Apache-2.0
// A deadline. The engines' next_deadline() values end up here.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <system_error>

#include "transport/reactor.hpp"

namespace weft::transport {

// The rules of all reactor objects are in transport/reactor.hpp.
class Timer {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Fails when the process is out of descriptors.
  [[nodiscard]] static std::expected<Timer, std::error_code> create(Reactor& reactor, Task on_expiry);
  ~Timer();  // cancels
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;

  // Replaces an earlier deadline, which then neither fires nor wakes a thread. Fires once; a deadline in the past fires
  // at once.
  void set(Deadline deadline);

 private:
  struct State;
  explicit Timer(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
