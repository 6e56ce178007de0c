// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/proxy.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>

#include "transport/cancellation.hpp"
#include "transport/poll_timeout.hpp"
#include "verbs/base/restarts.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {

Proxy::Sleep::Sleep(Proxy& where) : threads_(where.runtime_.progress_threads()) {
  threads_.falls_asleep();
  sleep_.emplace(where);
}

Proxy::Sleep::~Sleep() { threads_.wakes_up(); }

void Proxy::come_by(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  presence_.stay();
  if (!presence_.is_here() && presence_.has_row()) presence_.pass(now);
}

bool Proxy::begin(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (waiting_) return false;
  if (!presence_.is_here()) {
    if (!presence_.come(now) || !runtime_.progress_threads().proxy_comes()) return false;
    presence_.arrive();
  }
  waiting_ = true;
  if (!std::exchange(ticking_, true)) runtime_.watch(shared_from_this());
  return true;
}

void Proxy::end() {
  const std::lock_guard lock(mutex_);
  waiting_ = false;
  presence_.stay();
}

Proxy::Ended Proxy::serve_until(Clock::time_point until, const std::function<bool()>& there) {
  const auto quiet = Clock::now() + tuning::kManyTicks * tuning::kTick;
  const auto end = std::min(until, quiet);
  for (;;) {
    const bool served = serve_one();
    if (there()) return Ended::kEvent;
    if (Clock::now() >= end) break;
    if (!served && !sleeps_until(end)) return Ended::kSignal;
  }
  const std::lock_guard lock(mutex_);
  if (end == quiet) leave();
  return Ended::kNoEvent;
}

// What it posts meanwhile needs no token: it is taken before this thread does anything else. False when there is
// nothing to serve.
bool Proxy::serve_one() {
  const Driving here(*this);
  return runtime_.progress_threads().serve_one();
}

// False when a signal ends it.
bool Proxy::sleeps_until(Clock::time_point end) {
  std::array<pollfd, 2> waits{{{.fd = events_, .events = POLLIN, .revents = 0},
                               {.fd = runtime_.progress_threads().descriptor(), .events = POLLIN, .revents = 0}}};
  const int ready =
      transport::wait_for([&] { return ::poll(waits.data(), waits.size(), transport::poll_timeout(end)); });
  return ready >= 0 || every_handler_restarts();
}

// Until a thread makes a row anew.
void Proxy::leave() {
  if (presence_.leave()) runtime_.progress_threads().proxy_leaves();
}

void Proxy::close() {
  const std::lock_guard lock(mutex_);
  leave();
}

// Ticks are tuning::kTick apart or more.
bool Proxy::is_over() {
  const std::lock_guard lock(mutex_);
  if (waiting_) return false;
  show();
  if (presence_.came() && presence_.is_here()) return false;
  leave();
  ticking_ = false;
  return true;
}

}  // namespace weft::verbs::detail
