// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/deadlines.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>

namespace weft::verbs::detail {

namespace {

constexpr auto kPauseWithoutMemory = std::chrono::milliseconds(10);

}  // namespace

void Deadlines::add(Instant at, std::uint64_t stream) {
  waiting_.emplace(at, stream);
  arm();
}

std::vector<std::uint64_t> Deadlines::take_due(Instant now) {
  const auto end = std::ranges::find_if(waiting_, [now](const auto& one) { return one.first > now; });
  std::vector<std::uint64_t> due;
  try {
    due.reserve(static_cast<std::size_t>(std::distance(waiting_.begin(), end)));
  } catch (const std::bad_alloc&) {  // then later
    armed_ = now + kPauseWithoutMemory;
    timer_.set(transport::Timer::Deadline(armed_->since_epoch));
    return {};
  }
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
