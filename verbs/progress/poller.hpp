// SPDX-License-Identifier: Apache-2.0
// A completion queue that threads poll repeatedly, as a driver: they read the sockets of its streams. A few sockets are
// read in turn; of many, those that an epoll set of the queue reports as ready.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/readiness_set.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/progress/driver.hpp"
#include "verbs/progress/presence.hpp"
#include "verbs/progress/spare_time.hpp"

namespace weft::verbs::detail {

class Runtime;
class SocketWatch;
class Driven;

class Poller final : public Driver, public std::enable_shared_from_this<Poller> {
 public:
  explicit Poller(Runtime& runtime) : runtime_(runtime) {}

  // --- The streams that complete to the queue. By SocketWatch, with the stream's lock held.
  void join(const std::shared_ptr<Driven>& stream, SocketWatch& watch);
  void leave(const Driven& stream, const SocketWatch& watch);
  // True while the poller is present: the stream is its own until Driven::is_over().
  [[nodiscard]] bool claim(std::uint64_t stream);
  [[nodiscard]] std::shared_ptr<transport::ReadinessSet> sockets() const;  // null when there is none
  [[nodiscard]] bool has_few() const noexcept { return few_; }

  // --- The thread that polls, and found no completion
  // Reads the sockets.
  void drive();
  // It found nothing there either.
  void idle();
  // It is about to sleep: its presence is over now, not with the next tick.
  void sleeps();

  bool is_over() override;
  [[nodiscard]] bool has_time() noexcept override { return spare_time_.had_time(); }

 private:
  struct Member {
    std::shared_ptr<Driven> stream{};
    SocketWatch* watch{};  // the stream's; it leaves this queue before it ends
  };
  using Streams = std::vector<std::shared_ptr<Driven>>;

  void drive_ready(transport::ReadinessSet& set);
  void hand_back();
  // Under the lock.
  void keep_few() noexcept;
  void watch_all();
  [[nodiscard]] Streams all() const;

  Runtime& runtime_;
  mutable CompactMutex mutex_;
  std::unordered_map<std::uint64_t, Member> members_;  // by the stream's number
  std::shared_ptr<const Streams> few_streams_ =
      std::make_shared<Streams>();                    // null when they are many: replaced, never
                                                      // changed, so that pollers need no lock
  std::shared_ptr<transport::ReadinessSet> sockets_;  // once they are many and polled
  std::vector<std::uint64_t> claimed_;  // by number, since its presence began: each once, and some that have left
  std::vector<std::uint64_t> spare_;    // empty: see hand_back()
  std::atomic<bool> few_{true};
  bool newly_many_ = false;
  Presence presence_{Presence::kPoller};
  SpareTime spare_time_;
};

}  // namespace weft::verbs::detail
