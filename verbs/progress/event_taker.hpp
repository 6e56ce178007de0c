// SPDX-License-Identifier: Apache-2.0
// A driver that takes the events of a channel: the common part of waiter and proxy. An event need not be reported
// through the descriptor of the channel if this thread raised it itself, or is about to ask again.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "verbs/base/compact_mutex.hpp"
#include "verbs/progress/driver.hpp"
#include "verbs/progress/presence.hpp"

namespace weft::verbs::detail {

class EventTaker : public Driver {
 public:
  // `show` makes a held-back event visible to any thread that checks the descriptor. It is called with a lock held,
  // relative to which its own lock is a leaf.
  EventTaker(Presence::Rule rule, std::function<void()> show) : presence_(rule), show_(std::move(show)) {}
  EventTaker(const EventTaker&) = delete;
  EventTaker& operator=(const EventTaker&) = delete;

  // Returns whether this thread is driving, and takes what is raised in it before it does anything else.
  [[nodiscard]] bool drives_here() const noexcept {
    return driving_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  // Holds an event back while the thread is present and at work elsewhere: it has just posted a Send, most likely, and
  // takes the event next. Should it look at the descriptor instead, the next tick shows it. False: it is to be told.
  template <typename HoldBack>
  [[nodiscard]] bool while_away(HoldBack hold_back) {
    const std::lock_guard lock(mutex_);
    return presence_.is_here() && !waiting_ && asleep_ == 0 && hold_back();
  }
  // A thread drives, and sleeps only where it wakes for its sockets.
  [[nodiscard]] bool is_waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

  // While it lives, a thread sleeps on the descriptor.
  class Sleep {
   public:
    explicit Sleep(EventTaker& where) : where_(where) {
      const std::lock_guard lock(where_.mutex_);
      ++where_.asleep_;
      where_.show_();
    }
    ~Sleep() {
      const std::lock_guard lock(where_.mutex_);
      --where_.asleep_;
    }
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;

   private:
    EventTaker& where_;
  };

 protected:
  class Driving {
   public:
    explicit Driving(EventTaker& taker) : taker_(taker) {
      taker_.driving_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Driving() { taker_.driving_.store({}, std::memory_order_relaxed); }
    Driving(const Driving&) = delete;
    Driving& operator=(const Driving&) = delete;

   private:
    EventTaker& taker_;
  };
  void show() { show_(); }

  CompactMutex mutex_;
  Presence presence_;
  bool waiting_ = false;  // this and what follows under the lock
  bool ticking_ = false;  // the tick asks

 private:
  const std::function<void()> show_;
  int asleep_ = 0;  // threads, on the descriptor
  std::atomic<std::thread::id> driving_{};
};

}  // namespace weft::verbs::detail
