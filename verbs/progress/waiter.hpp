// SPDX-License-Identifier: Apache-2.0
// A thread that sleeps in CompletionChannel::get_event() on the sockets that it owns until there is an event. So
// arriving data wakes one thread instead of two in sequence. One thread at a time is the waiter; others sleep on the
// descriptor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "transport/readiness_set.hpp"
#include "verbs/progress/event_taker.hpp"

namespace weft::verbs::detail {

class Runtime;
class Driven;

class Waiter final : public EventTaker, public std::enable_shared_from_this<Waiter> {
 public:
  // `events`: a descriptor that is readable while events are to be taken.
  Waiter(Runtime& runtime, int events, std::function<void()> show)
      : EventTaker(Presence::kWaiter, std::move(show)), runtime_(runtime), events_(events) {}

  // --- The streams whose completions are announced here. By SocketWatch, with the stream's lock held.
  void join(const std::shared_ptr<Driven>& stream);
  void leave(const Driven& stream);
  [[nodiscard]] bool is_present() const noexcept { return presence_.is_here(); }
  // Once it was present.
  [[nodiscard]] transport::ReadinessSet& sockets() noexcept { return *sockets_; }

  // --- The thread in get_event
  // Ends also when the thread is canceled. `drives`: false when this thread is to sleep on the descriptor instead.
  class Wait {
   public:
    explicit Wait(Waiter& waiter) : waiter_(waiter), drives_(waiter.begin()) {}
    ~Wait() {
      if (drives_) waiter_.end();
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    [[nodiscard]] bool drives() const noexcept { return drives_; }

   private:
    Waiter& waiter_;
    const bool drives_;
  };
  // Within a Wait, until `there` says so. False when a signal ends it.
  [[nodiscard]] bool drive_until(const std::function<bool()>& there);
  // By a thread that finds an event each time it comes, and so never sleeps. The sockets are its own all the same, and
  // in them may be what no event tells of: a Write, or a Read that is owed its answer.
  void look_if_due();

  bool is_over() override;

 private:
  [[nodiscard]] bool begin();
  void end();
  [[nodiscard]] bool open_sockets();
  [[nodiscard]] std::vector<std::shared_ptr<Driven>> all() const;  // with the lock held
  void drive(std::span<const transport::Ready> ready);
  [[nodiscard]] std::shared_ptr<Driven> find(std::uint64_t number);

  Runtime& runtime_;
  const int events_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Driven>> members_;
  std::optional<transport::ReadinessSet> sockets_;  // and events_; since the first wait
  Clock::time_point looked_{};                      // by a thread that did not wait
  bool newcomers_ = false;                          // streams that no wait has asked for yet
  bool fresh_ = false;                              // a wait began or ended since the last tick
  int quiet_ticks_ = 0;                             // in which none did
};

}  // namespace weft::verbs::detail
