// SPDX-License-Identifier: Apache-2.0
// A queue of events with a descriptor that is readable while events are pending. Each token in the eventfd stands for
// one event, so the application can poll, duplicate or make the descriptor non-blocking, and there is no hidden state.
// A thread that takes a token then takes the event at the front, so there are as many events as tokens, counting those
// that threads have taken but not used yet. The exception is one event whose taker is about to ask without the
// descriptor: it is held back without a token until it is taken or published.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common/bounded_ring.hpp"
#include "transport/cancellation.hpp"
#include "transport/poll_timeout.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/base/given_descriptor.hpp"
#include "verbs/error.hpp"

namespace weft::verbs::detail {

// For a queue whose events are bounded elsewhere.
inline constexpr std::uint32_t kUnboundedEvents = std::numeric_limits<std::uint32_t>::max() - 1;

template <typename T>
class NotificationQueue {
 public:
  // `bound`: the most events that may wait; fewer than 2^32 - 1.
  [[nodiscard]] static Result<std::shared_ptr<NotificationQueue>> create(std::uint32_t bound) {
    GivenDescriptor descriptor(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
    if (!descriptor.valid()) return fail(Errc::kSystem, "descriptor", "cannot create an eventfd", errno);
    return std::make_shared<NotificationQueue>(std::move(descriptor), bound);
  }
  NotificationQueue(GivenDescriptor descriptor, std::uint32_t bound)
      : descriptor_(std::move(descriptor)), bound_(bound), events_(bound + 1) {}
  NotificationQueue(const NotificationQueue&) = delete;
  NotificationQueue& operator=(const NotificationQueue&) = delete;

  // For the program.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.given(); }

  // Returns false when the bound is reached. `last` may be the event that says so: it takes the one place after the
  // bound.
  bool post(T event, bool last = false) {
    std::unique_lock lock(mutex_);
    if (!push(std::move(event), last)) return false;
    put_token(lock);
    return true;
  }

  // Adds an event for a thread that calls take_now() soon: threads that wait at the descriptor are not notified until
  // show(). Only the first of several such events is held back; the others go to whichever threads come first.
  bool hold_back(T event) {
    std::unique_lock lock(mutex_);
    const bool first = events_.empty();
    if (!push(std::move(event), false)) return false;
    if (first)
      without_token_ = true;
    else
      put_token(lock);
    return true;
  }

  // What was held back is for the thread that comes first, by the descriptor as well.
  void show() {
    std::unique_lock lock(mutex_);
    if (std::exchange(without_token_, false)) put_token(lock);
  }

  // Waits as the descriptor's own mode says when there is no event. EBADF when the program has closed it. `waits`:
  // false when the mode is known to be not to wait, and the thread is not to be canceled here.
  Result<T> get(bool waits = true) {
    for (;;) {
      if (auto event = take_now()) return std::move(*event);
      if (!descriptor_.open()) return fail(Errc::kSystem, "channel", "its descriptor was closed", errno);
      if (read_token(waits) < 0) {
        if (errno == EAGAIN) return fail(Errc::kWouldBlock, "channel", "no event waits");
        if (errno == EINTR) return fail(Errc::kInterrupted, "channel", "a signal arrived while waiting");
        return fail(Errc::kSystem, "channel", "cannot read the eventfd", errno);
      }
      if (auto event = pop()) return std::move(*event);
    }
  }

  // Without waiting, and without a system call when there is none.
  std::optional<T> take_now() {
    if (held_.load(std::memory_order_acquire) == 0) return std::nullopt;
    if (auto event = take_without_token()) return event;
    while (take_token()) {
      if (auto event = pop()) return event;
    }
    return std::nullopt;
  }

  // Returns whether get() would wait: as the program set the descriptor, unless it has closed it.
  [[nodiscard]] bool blocks() const noexcept {
    const int mode = descriptor_.open() ? ::fcntl(descriptor_.kept(), F_GETFL) : -1;
    return mode >= 0 && (mode & O_NONBLOCK) == 0;
  }
  // Readable while events wait.
  [[nodiscard]] int waits_on() const noexcept { return descriptor_.kept(); }

  // Waits no longer than `at_most`, whatever the descriptor's mode: kTimedOut.
  Result<T> get(std::chrono::milliseconds at_most) {
    const std::chrono::milliseconds longest(std::numeric_limits<int>::max());
    const auto until = std::chrono::steady_clock::now() + std::clamp(at_most, std::chrono::milliseconds(0), longest);
    for (;;) {
      const int ready = transport::wait_for([&] { return poll_for(transport::poll_timeout(until)); });
      if (ready == 0 && std::chrono::steady_clock::now() < until) continue;
      if (ready == 0) return fail(Errc::kTimedOut, "channel", "no event came in time");
      if (ready < 0 && errno == EINTR) return fail(Errc::kInterrupted, "channel", "a signal arrived while waiting");
      if (ready < 0) return fail(Errc::kSystem, "channel", "cannot be polled", errno);
      if (!take_token()) continue;  // another thread was faster
      if (auto event = pop()) return std::move(*event);
    }
  }

  // Takes the events out that match, and their tokens: no thread is to be woken for an event that has been taken out.
  // Where a reader has the token already, an empty place is left for it.
  template <typename Predicate>
  std::vector<T> withdraw(Predicate matches) {
    std::vector<T> taken;
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) count += events_[i] && matches(*events_[i]) ? 1 : 0;
    taken.reserve(count);  // nothing after this needs memory
    for (std::size_t i = 0; i < events_.size(); ++i) {
      auto& place = events_[i];
      if (place && matches(*place)) taken.push_back(std::move(*std::exchange(place, std::nullopt)));
    }
    if (taken.empty()) return taken;
    // They need no lock to arrive.
    while (tokens_under_way_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    std::size_t tokens = std::exchange(without_token_, false) ? 1 : 0;
    while (tokens < taken.size() && take_token()) ++tokens;
    for (std::size_t places = events_.size(); places != 0; --places) {  // each once around, but for those given up
      auto place = events_.pop();
      if (place || tokens == 0) {
        events_.push(std::move(place));
      } else {
        --tokens;
      }
    }
    held_.store(events_.size(), std::memory_order_release);
    return taken;
  }

 private:
  // The following three under the lock.
  bool push(T event, bool last) {
    if (events_.size() >= bound_ + (last ? 1 : 0)) return false;
    events_.push(std::move(event));
    held_.store(events_.size(), std::memory_order_release);
    return true;
  }
  std::optional<T> pop_locked() {
    if (events_.empty()) return std::nullopt;
    auto event = events_.pop();
    held_.store(events_.size(), std::memory_order_release);
    return event;
  }

  std::optional<T> pop() {
    const std::lock_guard lock(mutex_);
    return pop_locked();
  }
  std::optional<T> take_without_token() {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(without_token_, false)) return std::nullopt;
    return pop_locked();
  }

  [[nodiscard]] int poll_for(int milliseconds) const {
    pollfd waiting{.fd = descriptor_.kept(), .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, milliseconds);
  }

  // As the descriptor's mode says.
  [[nodiscard]] ssize_t read_token(bool waits) const {
    std::uint64_t token = 0;
    const auto read = [&] { return ::read(descriptor_.kept(), &token, sizeof token); };
    return waits ? transport::wait_for(read) : read();
  }

  // Without waiting, although the descriptor's mode may say otherwise.
  bool take_token() {
    std::uint64_t token = 0;
    const iovec into{.iov_base = &token, .iov_len = sizeof token};
    if (::preadv2(descriptor_.kept(), &into, 1, -1, RWF_NOWAIT) > 0) return true;
    if (errno == EAGAIN) return false;
    return poll_for(0) == 1 && ::read(descriptor_.kept(), &token, sizeof token) > 0;  // kernels before 5.8
  }

  // Without the lock, which the thread that takes the token wants next.
  void put_token(std::unique_lock<CompactMutex>& lock) {
    const transport::NoCancellation here;
    tokens_under_way_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    const std::uint64_t one = 1;
    // Cannot fail: the counter holds 2^64 - 2 tokens.
    [[maybe_unused]] const auto written = ::write(descriptor_.kept(), &one, sizeof one);
    tokens_under_way_.fetch_sub(1, std::memory_order_release);
  }

  const GivenDescriptor descriptor_;
  const std::uint32_t bound_;
  CompactMutex mutex_;
  BoundedRing<std::optional<T>> events_;            // one place more than the bound, for the last event
  std::atomic<std::size_t> held_{0};                // places in the ring: where there are none no lock is taken
  std::atomic<std::uint32_t> tokens_under_way_{0};  // their places are in the ring
  bool without_token_ = false;  // one of the places has no token: the next one that is taken without asking
};

}  // namespace weft::verbs::detail
