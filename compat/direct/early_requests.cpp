// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/early_requests.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::compat::direct {

bool EarlyRequests::add(const Greeting& greeting, std::unique_ptr<verbs::ConnectionId>& id, Clock::time_point now) {
  const auto of_same =
      std::ranges::count_if(all_, [&](const Request& one) { return one.greeting.to.number == greeting.to.number; });
  const auto of_peer = std::ranges::count_if(
      all_, [&](const Request& one) { return one.greeting.from.address == greeting.from.address; });
  if (all_.size() >= kMost || of_same >= kMostOfOne || of_peer >= kMostOfPeer) return false;
  all_.push_back({.greeting = greeting, .id = std::move(id), .end = now + kLongest});
  return true;
}

EarlyRequests::Requests EarlyRequests::take(std::uint32_t number) {
  Requests taken;
  for (auto one = all_.begin(); one != all_.end();) {
    const auto next = std::next(one);
    if (one->greeting.to.number == number) taken.splice(taken.begin(), all_, one);
    one = next;
  }
  return taken;
}

EarlyRequests::Requests EarlyRequests::take_late(Clock::time_point now) {
  Requests taken;
  const auto in_time = std::ranges::find_if(all_, [now](const Request& one) { return one.end > now; });
  taken.splice(taken.begin(), all_, all_.begin(), in_time);
  return taken;
}

EarlyRequests::Clock::time_point EarlyRequests::next() const noexcept {
  return all_.empty() ? Clock::time_point::max() : all_.front().end;
}

}  // namespace weft::compat::direct
