// SPDX-License-Identifier: Apache-2.0
// A thread that waits for connection events repeatedly, such as one that sets up many connections. Meanwhile it serves
// the sockets of the progress thread: most of their data concerns it, and waking it for each event would take longer
// than the rest of a set-up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "verbs/progress/event_taker.hpp"
#include "verbs/progress/progress_threads.hpp"

namespace weft::verbs::detail {

class Runtime;

class Proxy final : public EventTaker, public std::enable_shared_from_this<Proxy> {
 public:
  // `events`: a descriptor that is readable while events are to be taken.
  Proxy(Runtime& runtime, int events, std::function<void()> show)
      : EventTaker(Presence::kProxy, std::move(show)), runtime_(runtime), events_(events) {}

  // By a thread that finds an event without waiting. It is part of a row, but does not count: one that always finds
  // some, since it looks at the descriptor first, would not serve while it sleeps there.
  void come_by(Clock::time_point now = Clock::now());
  // A wait. Ends also when the thread is canceled. `serves`: false when this thread is to sleep on the descriptor.
  class Wait {
   public:
    explicit Wait(Proxy& proxy, Clock::time_point now = Clock::now()) : proxy_(proxy), serves_(proxy.begin(now)) {}
    ~Wait() {
      if (serves_) proxy_.end();
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    [[nodiscard]] bool serves() const noexcept { return serves_; }

   private:
    Proxy& proxy_;
    const bool serves_;
  };
  enum class Ended : std::uint8_t { kEvent, kSignal, kNoEvent };
  // Within a Wait, until `there` says so, for tuning::kManyTicks or `until` at most.
  [[nodiscard]] Ended serve_until(Clock::time_point until, const std::function<bool()>& there);
  void close();  // the channel is gone

  // While it lives, a thread sleeps on the descriptor, and a progress thread is to wake it.
  class Sleep {
   public:
    explicit Sleep(Proxy& where);
    ~Sleep();
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;

   private:
    ProgressThreads& threads_;
    std::optional<EventTaker::Sleep> sleep_;
  };

  bool is_over() override;

 private:
  [[nodiscard]] bool begin(Clock::time_point now);
  void end();
  [[nodiscard]] bool serve_one();
  void leave();  // with the lock held
  [[nodiscard]] bool sleeps_until(Clock::time_point end);

  Runtime& runtime_;
  const int events_;
};

}  // namespace weft::verbs::detail
