// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/early_requests.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace weft::compat::direct {

namespace {

bool is_any(const EarlyRequests::Request&, const Greeting&) { return true; }
bool is_of_same(const EarlyRequests::Request& one, const Greeting& newcomer) {
  return one.greeting.to.number == newcomer.to.number;
}
bool is_of_peer(const EarlyRequests::Request& one, const Greeting& newcomer) {
  return one.greeting.from.address == newcomer.from.address;
}

}  // namespace

EarlyRequests::Requests EarlyRequests::add(const Greeting& greeting, std::unique_ptr<verbs::ConnectionId> id,
                                           Clock::time_point now) {
  Requests out;
  make_room(out, kMostOfOne, is_of_same, greeting);
  make_room(out, most_ - most_ / 4, is_of_peer, greeting);
  make_room(out, most_, is_any, greeting);
  all_.push_back({.greeting = greeting, .id = std::move(id), .end = now + kLongest});
  return out;
}

// Moves one Request to `out` if `most` or more match `counts`: the oldest of the address that has the most of them.
void EarlyRequests::make_room(Requests& out, std::size_t most, Counts counts, const Greeting& newcomer) {
  const auto counted = [&](const Request& one) { return counts(one, newcomer); };
  if (static_cast<std::size_t>(std::ranges::count_if(all_, counted)) < most) return;
  std::map<verbs::Address, std::size_t> places;
  std::size_t highest = ++places[newcomer.from.address];
  for (const Request& one : all_) {
    if (counted(one)) highest = std::max(highest, ++places[one.greeting.from.address]);
  }
  const auto oldest = std::ranges::find_if(all_, [&](const Request& one) {  //
    return counted(one) && places[one.greeting.from.address] == highest;
  });
  if (oldest != all_.end()) out.splice(out.end(), all_, oldest);
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
