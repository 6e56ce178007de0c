// SPDX-License-Identifier: Apache-2.0
// A thread of the application that reads sockets itself: a poller, a waiter or a proxy. It announces neither its
// arrival nor its departure; the tick detects whether it is still present.
#pragma once

#include <chrono>
#include <memory>

namespace weft::verbs::detail {

class Driver {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Driver() = default;
  // Called with each tick, from Tick::watch() on until it answers true: its presence is over, and it has handed back
  // what it owned. It may find no memory (std::bad_alloc), and is asked again by the next tick then.
  virtual bool is_over() = 0;
  // Since the last call, by the tick alone: it found nothing so often that it might as well have done the progress
  // threads' work.
  [[nodiscard]] virtual bool has_time() noexcept { return false; }

 private:
  friend class Tick;
  std::shared_ptr<Driver> next_;  // in the list of those that are watched; this and the next under its lock
  bool watched_ = false;
};

}  // namespace weft::verbs::detail
