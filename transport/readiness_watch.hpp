// SPDX-License-Identifier: Apache-2.0
// Lets the thread inside Reactor::run() wait for a ReadinessSet.
#pragma once

#include <expected>
#include <memory>
#include <system_error>

#include "transport/reactor.hpp"
#include "transport/readiness_set.hpp"

namespace weft::transport {

// Calls `on_ready` while the set has something ready, again and again until it has not: the callback calls wait() and
// serves what it gets. The set must outlive the watch. The rules of all reactor objects are in transport/reactor.hpp.
class ReadinessWatch {
 public:
  [[nodiscard]] static std::expected<ReadinessWatch, std::error_code> create(Reactor& reactor, const ReadinessSet& set,
                                                                             Task on_ready);
  ~ReadinessWatch();
  ReadinessWatch(ReadinessWatch&&) noexcept;
  ReadinessWatch& operator=(ReadinessWatch&&) noexcept;

 private:
  struct State;
  explicit ReadinessWatch(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
