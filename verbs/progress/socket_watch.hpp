// SPDX-License-Identifier: Apache-2.0
// Which epoll set contains the socket of a stream, and with which interest: the first table of docs/progress.md. No
// other code adds, changes or removes the socket of a connection in an epoll set. Protected by the lock of the stream,
// except for enter() and exit().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>

#include "transport/readiness_set.hpp"
#include "transport/readiness_thread.hpp"
#include "transport/socket.hpp"

namespace weft::verbs::detail {

class Driven;
class Driver;
class Poller;
class Waiter;

// The drivers of a queue pair's two completion queues: of the send queue's, and of the receive queue's. Null where
// there is none, or it is that of the send queue.
struct QueueDrivers {
  struct Side {
    Poller* poller{};
    Waiter* waiter{};
  };
  std::array<Side, 2> sides{};
};

class SocketWatch {
 public:
  // Watches the socket of the stream of this number, which starts with this progress thread.
  SocketWatch(const transport::Socket& socket, std::uint64_t stream, transport::ReadinessThread& home)
      : socket_(&socket), stream_(stream), home_(&home) {}

  [[nodiscard]] std::uint64_t stream() const noexcept { return stream_; }

  // --- The queue pair
  // Its queues, and `drivers` itself, outlive leave().
  void join(const std::shared_ptr<Driven>& self, const QueueDrivers& drivers);
  void leave(const Driven& self);  // the socket is the progress thread's

  // --- The events of the table. True when the owner has changed: settle() is to follow.
  bool driven_by(Poller& poller);
  bool waited_for_by(Waiter& waiter);
  bool is_over(const Driver& owner);

  // --- After every drive
  // `wanted`: what a thread that sleeps should look for. `stalled`: a Send waits for a receive, so no thread reads.
  // False when there was no memory for it: to be tried again.
  [[nodiscard]] bool settle(transport::Interest wanted, bool stalled);
  void move_to(transport::ReadinessThread& home);  // its progress thread from here on
  void move_to(const transport::Socket& socket);   // what is watched instead; before join()
  void end();                                      // before the socket is closed, and after leave()

  // A poller owns it that has few streams: it is driven with each poll.
  [[nodiscard]] bool is_polled_among_few() const noexcept;
  // A thread sleeps that wakes for what is wanted. `proxy`: progress threads that rest are served by one.
  [[nodiscard]] bool is_served(transport::Interest wanted, bool proxy);

  // --- A poller's own set. By the poller, with its lock held.
  [[nodiscard]] std::error_code enter(transport::ReadinessSet& set) const;
  void exit(transport::ReadinessSet& set) const noexcept { set.remove(*socket_); }

 private:
  enum class Kind : std::uint8_t { kProgressThread, kPoller, kWaiter };
  static constexpr std::size_t kSides = std::tuple_size_v<decltype(QueueDrivers::sides)>;
  struct Owner {
    Kind kind{};
    std::uint8_t side{};
    bool operator==(const Owner&) const = default;
  };
  struct Settled {
    transport::Interest wanted{};
    bool stalled{};
    Owner owner{};
    bool operator==(const Settled&) const = default;
  };

  // Null as in QueueDrivers, or without a queue pair.
  [[nodiscard]] Poller* poller(std::size_t side) const noexcept {
    return drivers_ == nullptr ? nullptr : drivers_->sides[side].poller;
  }
  [[nodiscard]] Waiter* waiter(std::size_t side) const noexcept {
    return drivers_ == nullptr ? nullptr : drivers_->sides[side].waiter;
  }
  [[nodiscard]] bool owns(const Driver& driver) const noexcept;
  [[nodiscard]] Owner heir() const;
  void tell_pollers(bool write);
  void tell_waiters(transport::Interest wanted);
  [[nodiscard]] bool tell_waiter(std::size_t side, transport::Interest interest);
  [[nodiscard]] bool tell_progress_thread(std::optional<transport::Interest> interest);

  const transport::Socket* socket_;
  const std::uint64_t stream_;
  transport::ReadinessThread* home_;
  const QueueDrivers* drivers_ = nullptr;  // while it has a queue pair
  Owner owner_{};
  std::atomic<bool> wants_room_{false};  // the write interest in the sets of pollers
  // The interest in the sets of the waiters, and in that of the progress thread; nothing: not registered there.
  std::array<std::optional<transport::Interest>, kSides> seats_{};
  std::optional<transport::Interest> watched_{};
  std::optional<Settled> settled_{};
};

}  // namespace weft::verbs::detail
