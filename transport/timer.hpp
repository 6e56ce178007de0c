// SPDX-License-Identifier: Apache-2.0
// A deadline, for the next_deadline() values of the engines.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <system_error>

#include "transport/reactor.hpp"

namespace weft::transport {

// Follows the rules of transport/reactor.hpp.
class Timer {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Fails if the process cannot open another descriptor.
  [[nodiscard]] static std::expected<Timer, std::error_code> create(Reactor& reactor, Task on_expiry);
  ~Timer();  // cancels
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;

  // Replaces the previous deadline, which then neither fires nor wakes a thread. Fires once; a past deadline fires at
  // once.
  void set(Deadline deadline);

 private:
  struct State;
  explicit Timer(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
