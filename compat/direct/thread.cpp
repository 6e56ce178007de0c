// SPDX-License-Identifier: Apache-2.0
// The thread that makes direct connections: what it waits for, and what is due when.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "compat/direct/connections.hpp"
#include "compat/objects/report.hpp"
#include "compat/rsockets/call.hpp"
#include "transport/blocked_signals.hpp"

namespace weft::compat::direct {

// The thread waits until next_ as it was under the mutex: an earlier time wakes it.
void Connections::look_by(Clock::time_point time) noexcept {
  if (time >= next_) return;
  next_ = time;
  service_->wake();
}

// Looks at all connections, but not before something is due. Under mutex_: no queue pair in the table ends.
Connections::Due Connections::look_at_clock(Clock::time_point now) {
  if (now < next_) return {};
  Due due{.late = early_.take_late(now)};
  for (auto n = due.late.size(); n != 0; --n) tell_rejected("its queue pair did not reach RTR in time");
  for (auto& [number, connection] : connections_) {
    if (!connection) continue;
    if (connection->end && *connection->end <= now) {
      connection->end.reset();
      connection->retry.at.reset();
      connection->connects->give_up_connecting();
      if (connection->accepts != connection->connects) connection->accepts->give_up_connecting();
    }
    if (connection->retry.at && *connection->retry.at <= now) {
      due.again.push_back(connection);
      connection->retry.at.reset();
    }
  }
  next_ = early_.next();
  for (const auto& [number, connection] : connections_) {
    if (!connection) continue;
    next_ = std::min({next_, connection->end.value_or(kNever), connection->retry.at.value_or(kNever)});
  }
  return due;
}

// Whether there is more to do, and `wait`: for how long there is nothing.
bool Connections::serve(Service& service, int& wait) {
  take_events(service);
  Due due;  // the late ones end without the lock
  {
    const std::lock_guard lock(mutex_);
    if (service.ends) return false;
    due = look_at_clock(Clock::now());
    wait = rsockets::milliseconds_until(next_ == kNever ? std::nullopt : std::optional(next_));
  }
  for (const auto& connection : due.again) {
    const std::lock_guard calls(connection->calls);
    if (!connection->ended) connect(*connection);
  }
  return true;
}

// No wake-up is lost: both descriptors stay readable until this thread reads them, and what the program changed under
// the mutex before it wrote is seen after the read. Whoever makes something due earlier than next_ writes (look_by()).
void Connections::run(Service& service) noexcept {
  transport::block_signals();
  const rsockets::Inside until_the_end;
  for (int wait = 0;;) {
    std::array<pollfd, 2> ready{pollfd{.fd = service.channel.descriptor(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = service.woken, .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), wait);
    std::uint64_t times = 0;
    if (ready[1].revents != 0) static_cast<void>(!::read(service.woken, &times, sizeof times));
    const int done = guarded_minus_one([&] { return serve(service, wait) ? 0 : 1; });
    if (done == 1) return;
    if (done != 0) wait = 100;  // without memory or descriptors there is a pause
  }
}

}  // namespace weft::compat::direct
