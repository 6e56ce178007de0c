// SPDX-License-Identifier: Apache-2.0
// The state that a listener shares with the connections that it has not handed over. Connections with an incomplete
// Request are counted and limited separately (half_open.hpp); the backlog of the application limits the requests that
// it has not taken. While the backlog is full, the listener accepts nothing, and new connections wait in the kernel's
// queue. A Request that arrives meanwhile, on a connection accepted before, waits here in the order of arrival.
// Together with the connections without a Request they have half of the process's descriptors, and those of one
// listener a quarter; one beyond the half is rejected. So peers that connect repeatedly, with or without a Request, can
// neither exhaust memory nor exclude others (SEC-6.4.1-03). Admission is checked before (admission.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "verbs/connecting/admission.hpp"
#include "verbs/connecting/event_channel_state.hpp"
#include "verbs/connecting/half_open.hpp"
#include "verbs/connection.hpp"

namespace weft::verbs::detail {

// Safe for threads. Its lock is taken beneath those of streams, and above that of the channel alone.
class Backlog {
 public:
  Backlog(int most, const HalfOpen::Limits& half_open, std::shared_ptr<Admission> lets_in,
          std::weak_ptr<ConnectionState> owner, std::shared_ptr<EventChannelState> channel)
      : listener(std::move(owner)),
        admission(std::move(lets_in)),
        limit_(limit_of(most, half_open)),
        half_open_(half_open),
        channel_(std::move(channel)) {}

  const std::weak_ptr<ConnectionState> listener;
  const std::shared_ptr<Admission> admission;

  // --- The listener
  // How many connections it may accept before it looks at the Requests of these. After a 0 it stops, and is to be woken
  // when leave() says so.
  [[nodiscard]] int room();
  // While `on` there is no room.
  void hold_requests(bool on);
  [[nodiscard]] std::vector<HalfOpen::Entry> enter(HalfOpen::Entry newcomer);  // as HalfOpen does
  [[nodiscard]] std::optional<HalfOpen::Entry> take_oldest();
  [[nodiscard]] std::shared_ptr<ConnectionState> find(const HalfOpen::Path& path) const;
  // `count` had to go. The line to be logged, at times.
  [[nodiscard]] std::optional<std::string> dropped(std::size_t count, Instant now);
  [[nodiscard]] bool tell_failure(Instant now);  // whether to log that a connection cannot be accepted
  [[nodiscard]] ListenCounts counts() const;

  // --- A connection
  // Its Request has come. Returned when the listener is gone, or the process has too many.
  [[nodiscard]] std::optional<QueuedEvent> ask(std::uint64_t number, QueuedEvent request);
  // It ended before its Request came.
  void leave_half_open(std::uint64_t number);
  // The application has its request, or never will. True: the listener is to be woken.
  [[nodiscard]] bool leave_requests();

  // --- Its channel
  // No request is posted while it is held.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  void move_to(std::shared_ptr<EventChannelState> channel, const std::unique_lock<std::mutex>& held);
  // The listener goes: what waited here, to be dropped without any lock.
  [[nodiscard]] std::deque<QueuedEvent> close();

 private:
  static constexpr auto kBetweenLines = std::chrono::seconds(10);
  [[nodiscard]] static int limit_of(int most, const HalfOpen::Limits& half_open) noexcept {
    const std::size_t quarter = std::max<std::size_t>(half_open.in_process / 2, 1);
    return static_cast<int>(std::min(static_cast<std::size_t>(most), quarter));
  }

  const int limit_;
  mutable std::mutex mutex_{};
  HalfOpen half_open_;
  std::shared_ptr<EventChannelState> channel_;  // the listener's; null when it is gone
  int requests_ = 0;                            // not taken by the application, those that wait here included
  std::deque<QueuedEvent> waiting_{};           // beyond the limit
  bool held_ = false;
  bool awaited_ = false;  // a place, by the listener
  std::uint64_t dropped_ = 0;
  std::uint64_t told_ = 0;  // of these
  std::optional<Instant> told_at_{};
  std::optional<Instant> failed_at_{};  // the time at which this was logged
};

}  // namespace weft::verbs::detail
