// SPDX-License-Identifier: Apache-2.0
// The deadlines of all streams. One timer serves them all. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/instant.hpp"
#include "transport/timer.hpp"

namespace weft::verbs::detail {

class Deadlines {
 public:
  explicit Deadlines(transport::Timer timer) : timer_(std::move(timer)) {}

  void add(Instant at, std::uint64_t stream);
  // The timer stays as it is: one wake-up for nothing is cheaper than to set it for each of many connections.
  void forget(Instant at, std::uint64_t stream) { waiting_.erase({at, stream}); }
  // On expiry: the streams whose time has come. The timer is set for the next.
  [[nodiscard]] std::vector<std::uint64_t> take_due(Instant now);

 private:
  void arm();

  std::set<std::pair<Instant, std::uint64_t>> waiting_;
  std::optional<Instant> armed_;  // the timer, perhaps for one that is not wanted any more
  transport::Timer timer_;
};

}  // namespace weft::verbs::detail
