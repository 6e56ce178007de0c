// SPDX-License-Identifier: Apache-2.0
// MPA Requests whose queue pair exists and has not reached RTR: each waits until its program gets that far, for a time.
// A stranger decides how many there are, so they are bounded for each queue pair, each peer and the process. When there
// is no place, the oldest of the address that has the most gives way, and its sender tries again: no number of Requests
// keeps others out. Not thread-safe. Time is an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "compat/direct/greeting.hpp"
#include "verbs/connection.hpp"

namespace weft::compat::direct {

class EarlyRequests {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongest{10};
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostOfOne = 8;  // for one queue pair

  struct Request {
    Greeting greeting{};
    std::unique_ptr<verbs::ConnectionId> id{};  // whose end rejects it
    Clock::time_point end{};
  };
  using Requests = std::list<Request>;  // an empty std::deque allocates

  explicit EarlyRequests(std::size_t most = kMost) noexcept : most_(most) {}

  // Adds a Request. Returns those that were evicted for it.
  [[nodiscard]] Requests add(const Greeting& greeting, std::unique_ptr<verbs::ConnectionId> id, Clock::time_point now);
  // Removes and returns the Requests for this queue pair, the latest first.
  [[nodiscard]] Requests take(std::uint32_t number);
  // Removes and returns the Requests that have waited for kLongest.
  [[nodiscard]] Requests take_late(Clock::time_point now);
  // Returns when the next Request is late; time_point::max() if there is none.
  [[nodiscard]] Clock::time_point next() const noexcept;

 private:
  using Counts = bool (*)(const Request& one, const Greeting& newcomer);
  void make_room(Requests& out, std::size_t most, Counts counts, const Greeting& newcomer);

  const std::size_t most_;  // of one address three quarters: the rest is for others
  Requests all_{};          // in the order in which they came, which is that of their ends
};

}  // namespace weft::compat::direct
