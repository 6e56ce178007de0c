// SPDX-License-Identifier: Apache-2.0
// What the watchdog looks at: the tick, the rest of the progress threads, and the sockets.
#include <algorithm>
#include <limits>

#include "verbs/progress/driven.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {

namespace {

// Sights that are none of streams, which are numbered from 1.
constexpr std::uint64_t kTickSight = 0;
constexpr std::uint64_t kRestSight = std::numeric_limits<std::uint64_t>::max();

// By one look, of thousands of connections: each has its turn.
constexpr std::size_t kMostLooked = 256;

}  // namespace

bool Runtime::look_for_the_forgotten() {
  const auto now = Watchdog::Clock::now();
  look_at_tick(now);
  const bool rests = look_at_rest(now);
  if (tick_.ticks()) return true;  // a thread that is held up in it is bound to go on
  choose_streams();
  for (const auto& stream : looked_at_) look_at(*stream, now);
  looked_at_.clear();
  return rests || tick_.any() || !watchdog_.sights().empty();
}

void Runtime::look_at_tick(Watchdog::Clock::time_point now) {
  const auto due = tick_.overdue(now);
  if (!due) return watchdog_.forget(kTickSight);
  if (!watchdog_.sight(kTickSight, static_cast<std::uint64_t>(due->time_since_epoch().count()), now)) return;
  Watchdog::report("a tick was lost: it is done now");
  tick_.alarm();
}

// Whether a progress thread rests. While one does, there are drivers, whose tick ends it.
bool Runtime::look_at_rest(Watchdog::Clock::time_point now) {
  const bool rests = progress_.any_rests();
  if (!rests || tick_.any()) return watchdog_.forget(kRestSight), rests;
  if (!watchdog_.sight(kRestSight, 0, now)) return true;
  Watchdog::report("a progress thread rested though no other thread did its work: it is awake now");
  progress_.resume_all();
  return true;
}

void Runtime::look_at(Driven& stream, Watchdog::Clock::time_point now) {
  const auto moved = stream.moved_if_unserved();
  if (!moved) return watchdog_.forget(stream.number());
  if (!watchdog_.sight(stream.number(), *moved, now)) return;
  Watchdog::report("a socket was ready and no thread served it: it is served now");
  stream.drive(false);
}

// Those that were suspicious, and as many others as one look may have.
void Runtime::choose_streams() {
  const std::lock_guard lock(streams_mutex_);
  for (const auto& sight : watchdog_.sights()) {
    if (const auto found = streams_.find(sight.stream); found != streams_.end()) looked_at_.push_back(found->second);
  }
  const std::size_t suspicious = looked_at_.size();
  for (std::size_t left = streams_.bucket_count(); left != 0 && looked_at_.size() < kMostLooked; --left) {
    bucket_ = (bucket_ + 1) % streams_.bucket_count();
    for (auto one = streams_.cbegin(bucket_); one != streams_.cend(bucket_); ++one) {
      const auto end = looked_at_.cbegin() + static_cast<std::ptrdiff_t>(suspicious);
      if (std::find(looked_at_.cbegin(), end, one->second) == end) looked_at_.push_back(one->second);
    }
  }
}

}  // namespace weft::verbs::detail
