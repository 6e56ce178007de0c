// SPDX-License-Identifier: Apache-2.0
// Threads of the application that drive sockets themselves, because they poll a completion queue or wait on a channel.
// While they do, the progress threads stay away from those sockets; the runtime's tick finds out when they have gone.
#pragma once

#include <chrono>
#include <memory>

namespace weft::verbs::detail {

class ApplicationDriver {
 public:
  using Clock = std::chrono::steady_clock;
  // No thread came by for so long: the progress threads take the sockets back.
  static constexpr std::chrono::milliseconds kStale{1};

  virtual ~ApplicationDriver() = default;
  // Called with each tick, from ApplicationDrivers::watch() on until it answers true: nothing to be watched for any
  // more. It may find no memory (std::bad_alloc), and is asked again by the next tick then.
  virtual bool hand_back_if_idle(Clock::time_point now) = 0;
  // Since the last call, by the tick alone: its thread came by, and found nothing, so often that it might as well have
  // done the progress threads' work.
  [[nodiscard]] virtual bool has_time() noexcept { return false; }

 private:
  friend class ApplicationDrivers;
  std::shared_ptr<ApplicationDriver> next_;  // in the list of those that are watched; this and the next under its lock
  bool watched_ = false;
};

}  // namespace weft::verbs::detail
