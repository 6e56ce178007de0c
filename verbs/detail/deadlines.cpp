// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/deadlines.hpp"

#include <chrono>

namespace weft::verbs::detail {

void Deadlines::add(Instant at, std::uint64_t stream) {
  waiting_.emplace(at, stream);
  arm();
}

std::vector<std::uint64_t> Deadlines::take_due(Instant now) {
  std::vector<std::uint64_t> due;
  armed_.reset();
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    due.push_back(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
  arm();
  return due;
}

void Deadlines::arm() {
  if (waiting_.empty()) return;
  const Instant first = waiting_.begin()->first;
  if (armed_ && *armed_ <= first) return;
  armed_ = first;
  timer_.set(transport::Timer::Deadline(first.since_epoch));
}

}  // namespace weft::verbs::detail
