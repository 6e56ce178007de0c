// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/watchdog.hpp"

#include <algorithm>
#include <new>

#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

namespace {

std::atomic<std::uint64_t> findings{0};

}  // namespace

std::uint64_t Watchdog::found() noexcept { return findings; }

void Watchdog::report(const char* what) {
  ++findings;
  log_warning("watchdog", what);
}

std::error_code Watchdog::open(transport::Reactor& reactor) {
  auto timer = transport::Timer::create(reactor, [this] { beat(); });
  if (!timer) return timer.error();
  timer_.emplace(std::move(*timer));
  return {};
}

void Watchdog::start() {
  if (!beats_.load() && !beats_.exchange(true)) wait();
}

void Watchdog::wait() { timer_->set(Clock::now() + kBeat); }

// A start() during the last look found the timer running and did nothing, so this looks once more after the timer
// stops.
void Watchdog::beat() {
  if (look()) return wait();
  sights_.clear();
  beats_ = false;
  if (look()) start();
}

// Looks at all streams. Forgets streams that have ended, whose entries would otherwise keep the timer running forever.
// If memory is short, the next look tries again.
bool Watchdog::look() {
  try {
    for (Sight& sight : sights_) sight.here = false;
    const bool again = look_();
    std::erase_if(sights_, [](const Sight& sight) { return !sight.here; });
    return again;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

void Watchdog::forget(std::uint64_t stream) {
  std::erase_if(sights_, [stream](const Sight& sight) { return sight.stream == stream; });
}

bool Watchdog::sight(std::uint64_t stream, std::uint64_t moved, Clock::time_point now) {
  const auto seen = std::ranges::find(sights_, stream, &Sight::stream);
  const Sight first{.stream = stream, .moved = moved, .looks = 1, .since = now};
  if (seen == sights_.end()) {
    if (sights_.size() < kMostSights) sights_.push_back(first);
    return false;
  }
  seen->here = true;
  if (seen->moved != moved) return *seen = first, false;
  if (++seen->looks < kLooks || now - seen->since < kForgotten) return false;
  sights_.erase(seen);
  return true;
}

}  // namespace weft::verbs::detail
