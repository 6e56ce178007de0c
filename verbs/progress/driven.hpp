// SPDX-License-Identifier: Apache-2.0
// A connection, as progress sees it: what drivers, timers, the watchdog and fork() do with one. It takes its own lock,
// and is called with no lock held but that of the list it was found in (leave_to_parent() alone).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "verbs/live_streams.hpp"

namespace weft::verbs::detail {

class Driver;
class Poller;
class Waiter;

class Driven {
 public:
  virtual ~Driven() = default;

  // Returns the number in this process, from 1: the token of its socket in every epoll set.
  [[nodiscard]] virtual std::uint64_t number() const noexcept = 0;

  // --- Drivers. A connection that gets no memory while it is driven ends: nobody would go on where the driver stopped.
  // So drive(), drive_if_free() and deadline_passed() throw no std::bad_alloc, in whatever thread.
  // Reads and writes what the socket has and takes. By a thread that slept for it; true if octets arrived for an
  // established connection.
  virtual bool drive(bool hangup) = 0;
  // The same, unless another thread drives it, which returns false. `by` becomes its owner.
  virtual bool drive_if_free(Poller& by) = 0;
  // The waiter begins to sleep, and may become its owner.
  virtual void waited_for_by(Waiter& waiter) = 0;
  // The presence of the driver has ended: another one becomes its owner.
  virtual void is_over(const Driver& owner) = 0;

  // --- The runtime
  virtual void deadline_passed() = 0;
  // Ends it, although it has no queue pair and no driver waits for it: to make room for another one.
  virtual void end_waiting() = 0;
  // The runtime ends.
  virtual void abandon() = 0;
  // In a child process after fork(): the stream is over for all calls, and the number of its socket becomes `nowhere`,
  // so that nothing here reaches the peer.
  virtual void leave_to_parent(int nowhere) noexcept = 0;

  // --- Those that look on
  // For the watchdog: if the socket is ready and no sleeping thread wakes for it, returns a number that changes with
  // each read that finds octets, and with each octet that the socket accepts.
  [[nodiscard]] virtual std::optional<std::uint64_t> moved_if_unserved() = 0;
  [[nodiscard]] virtual std::optional<LiveStream> describe() = 0;  // nothing: it is over
};

// The next Driven::number().
[[nodiscard]] inline std::uint64_t next_driven_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace weft::verbs::detail
