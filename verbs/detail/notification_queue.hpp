// SPDX-License-Identifier: Apache-2.0
// A queue of events with a descriptor that is readable while events wait. One token in the eventfd stands for one
// event, so the descriptor can be polled, duplicated, or made non-blocking by the application, and there is no hidden
// state.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "verbs/error.hpp"

namespace weft::verbs::detail {

template <typename T>
class NotificationQueue {
 public:
  // `bound`: the most events that may wait.
  [[nodiscard]] static Result<std::shared_ptr<NotificationQueue>> create(std::size_t bound) {
    const int descriptor = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    if (descriptor < 0) return fail(Errc::kSystem, "descriptor", "cannot create an eventfd", errno);
    return std::make_shared<NotificationQueue>(descriptor, bound);
  }
  NotificationQueue(int descriptor, std::size_t bound) : descriptor_(descriptor), bound_(bound) {}
  ~NotificationQueue() { ::close(descriptor_); }
  NotificationQueue(const NotificationQueue&) = delete;
  NotificationQueue& operator=(const NotificationQueue&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // False when the bound is reached. `last` may be the event that says so: it takes the one place behind the bound.
  bool post(T event, bool last = false) {
    {
      const std::lock_guard lock(mutex_);
      if (events_.size() >= bound_ + (last ? 1 : 0)) return false;
      events_.emplace_back(std::move(event));
    }
    put_token();
    return true;
  }

  // Waits as the descriptor's own mode says.
  Result<T> get() {
    for (;;) {
      std::uint64_t token = 0;
      if (::read(descriptor_, &token, sizeof token) < 0) {
        if (errno == EAGAIN) return fail(Errc::kWouldBlock, "channel", "no event waits");
        if (errno == EINTR) return fail(Errc::kInterrupted, "channel", "a signal arrived while waiting");
        return fail(Errc::kSystem, "channel", "cannot read the eventfd", errno);
      }
      if (auto event = pop()) return std::move(*event);
    }
  }

  // Takes the events out that match; their tokens find an empty place later and are skipped by get().
  template <typename Predicate>
  std::vector<T> withdraw(Predicate matches) {
    std::vector<T> taken;
    const std::lock_guard lock(mutex_);
    for (auto& place : events_) {
      if (place && matches(*place)) taken.push_back(std::move(*std::exchange(place, std::nullopt)));
    }
    return taken;
  }

 private:
  std::optional<T> pop() {
    const std::lock_guard lock(mutex_);
    if (events_.empty()) return std::nullopt;
    auto event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  void put_token() {
    const std::uint64_t one = 1;
    // Cannot fail: the counter holds 2^64 - 2 tokens.
    [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
  }

  const int descriptor_;
  const std::size_t bound_;
  std::mutex mutex_;
  std::deque<std::optional<T>> events_;
};

}  // namespace weft::verbs::detail
