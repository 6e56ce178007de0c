// SPDX-License-Identifier: Apache-2.0
// A channel of connection events. A thread that waits here time and again, as one does that sets up many connections,
// stands in for the progress thread: while it waits it serves the runtime's sockets itself. What comes in them is
// mostly for it, and to be woken for each takes longer than all the rest of a set-up.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "verbs/connection.hpp"
#include "verbs/detail/application_driver.hpp"
#include "verbs/detail/compact_mutex.hpp"
#include "verbs/detail/notification_queue.hpp"

namespace weft::verbs::detail {

class Runtime;

// A connection request that nobody took yet. Dropped, it is rejected.
class Offer {
 public:
  explicit Offer(std::shared_ptr<ConnectionState> state) : state_(std::move(state)) {}
  Offer(Offer&&) noexcept = default;
  Offer& operator=(Offer&&) noexcept = default;
  ~Offer();
  [[nodiscard]] std::shared_ptr<ConnectionState> take() { return std::move(state_); }

 private:
  std::shared_ptr<ConnectionState> state_;
};

// A ConnectionEvent inside the library, where nothing may own the runtime.
struct QueuedEvent {
  ConnectionEvent event{};
  std::optional<Offer> offer{};
};

class EventChannelState final : public std::enable_shared_from_this<EventChannelState> {
 public:
  EventChannelState(Runtime& runtime, std::shared_ptr<NotificationQueue<QueuedEvent>> queue)
      : events(std::move(queue)), runtime_(runtime) {}
  ~EventChannelState();
  EventChannelState(const EventChannelState&) = delete;
  EventChannelState& operator=(const EventChannelState&) = delete;

  const std::shared_ptr<NotificationQueue<QueuedEvent>> events;
  // Waits, unless the descriptor's mode is not to.
  Result<QueuedEvent> get_event();
  // Waits at most so long, whatever the descriptor's mode: kTimedOut.
  Result<QueuedEvent> get_event(std::chrono::milliseconds at_most);
  // Nobody need be told through the descriptor when it is the thread that serves which found the reason for the event,
  // or when that thread is about to come again.
  void post(QueuedEvent event);

 private:
  using Clock = ApplicationDriver::Clock;
  // The runtime's tick does not keep the channel, and what is in it, alive.
  class Presence final : public ApplicationDriver {
   public:
    explicit Presence(std::weak_ptr<EventChannelState> channel) : channel_(std::move(channel)) {}
    bool hand_back_if_idle(Clock::time_point now) override;

   private:
    const std::weak_ptr<EventChannelState> channel_;
  };

  static constexpr auto kStale = ApplicationDriver::kStale;
  // So many waits in a row of calls, each within that time of the one before, are those of a thread that sets up
  // connections one after the other, or many at once.
  static constexpr int kManyWaits = 4;
  // It is over when no event comes for so long: the progress thread is woken as quickly.
  static constexpr std::chrono::milliseconds kQuiet{10};

  struct Wait {  // ends also when the thread is cancelled
    EventChannelState& channel;
    ~Wait() { channel.end_wait(); }
  };

  struct Sleep {  // on the descriptor
    EventChannelState& channel;
    explicit Sleep(EventChannelState& where);
    ~Sleep();
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;
  };

  std::optional<QueuedEvent> take_now();
  void come_by();
  void continue_row();  // this and the next with the lock held
  [[nodiscard]] bool waits_often();
  [[nodiscard]] bool begin_wait();
  void end_wait();
  // Nothing when none came for kQuiet, or until `until`.
  std::optional<Result<QueuedEvent>> serve_until_event(Clock::time_point until);
  [[nodiscard]] bool serve_one();
  [[nodiscard]] bool has_gone();  // asked by each tick
  void step_back();               // with the lock held

  Runtime& runtime_;
  std::atomic<std::thread::id> server_{};  // the thread that serves, while it does
  CompactMutex mutex_;
  Clock::time_point last_call_{};  // of get_event, when it began
  int waits_ = 0;                  // up to that one, in a row
  bool stands_in_ = false;  // from the first wait that serves until the thread has gone for a tick, or waited for long
  bool waiting_ = false;    // a thread that serves
  int asleep_ = 0;          // threads, on the descriptor
  bool came_by_ = false;    // since the last tick
  bool ticking_ = false;
};

}  // namespace weft::verbs::detail
