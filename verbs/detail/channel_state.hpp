// SPDX-License-Identifier: Apache-2.0
// A completion channel, and the streams whose completions it announces. A thread that waits here for an event does not
// wait to be woken by a progress thread: it sleeps until one of their sockets is ready, and drives it. So what arrives
// wakes one thread and not two, one after the other.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>

#include "transport/readiness_set.hpp"
#include "verbs/completion.hpp"
#include "verbs/detail/application_driver.hpp"
#include "verbs/detail/compact_mutex.hpp"
#include "verbs/detail/notification_queue.hpp"

namespace weft::verbs::detail {

class Runtime;
class Stream;

class ChannelState final : public ApplicationDriver, public std::enable_shared_from_this<ChannelState> {
 public:
  ChannelState(Runtime& runtime, std::shared_ptr<NotificationQueue<CompletionEvent>> queue)
      : events(std::move(queue)), runtime_(runtime) {}

  // Waits, unless the descriptor's mode is not to. One thread at a time drives; others sleep on the descriptor.
  Result<CompletionEvent> get_event();
  const std::shared_ptr<NotificationQueue<CompletionEvent>> events;
  // Puts it into `events`. Nobody need be told through the descriptor when it is the thread that waits here which found
  // the reason for it, in a socket that it drives, or when that thread is about to come again.
  void announce(CompletionEvent event);

  // --- Streams. Called with the stream's lock held, once for each of its queues that announce here.
  void attach(const std::shared_ptr<Stream>& stream, const transport::Socket& socket);
  void detach(const Stream& stream, const transport::Socket& socket);
  // What the thread that waits should look for. False when it cannot, for want of memory or watches.
  [[nodiscard]] bool show_interest(const Stream& stream, const transport::Socket& socket, transport::Interest interest);
  // The sockets belong to the thread that waits, or that waited a moment ago and is about to come again.
  [[nodiscard]] bool waited() const noexcept { return waited_; }
  // A thread sleeps in get_event, and wakes for them.
  [[nodiscard]] bool has_waiter() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  bool hand_back_if_idle(Clock::time_point now) override;

 private:
  // With more streams to take over and hand back than these, sleeping on the descriptor is cheaper.
  static constexpr std::size_t kMostDriven = 256;
  // A thread that waits for so many ticks needs none until it comes back.
  static constexpr int kLongWait = 10;
  // A thread that drives takes so many ready sockets from the kernel at a time: mostly there is one.
  static constexpr std::size_t kReadyAtOnce = 16;
  // A thread that finds events without waiting looks at the sockets when it last did so long ago.
  static constexpr std::chrono::microseconds kMostUnseen{100};

  struct Member {
    std::shared_ptr<Stream> stream{};
    const transport::Socket* socket{};  // the stream's; it leaves before it closes it
    int queues = 0;
    bool added = false;  // to sockets_
  };
  struct Wait {  // ends also when the thread is cancelled
    ChannelState& channel;
    ~Wait() { channel.end_wait(); }
  };

  struct Sleep {  // on the descriptor
    ChannelState& channel;
    explicit Sleep(ChannelState& where);
    ~Sleep();
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;
  };

  bool hold_back(const CompletionEvent& event);
  bool begin_wait();
  void end_wait();
  Result<CompletionEvent> drive_until_event();
  void look_if_due();
  void drive(std::span<const transport::Ready> ready);
  bool open_sockets();
  void refresh_interests();
  [[nodiscard]] std::shared_ptr<Stream> find(std::uint64_t number);

  Runtime& runtime_;
  std::atomic<bool> waited_{false};
  CompactMutex mutex_;
  std::unordered_map<std::uint64_t, Member> members_;
  std::optional<transport::ReadinessSet> sockets_;  // and the descriptor of the events; since the first wait
  std::atomic<Clock::rep> looked_{0};               // when, by a thread that did not wait
  std::atomic<std::thread::id> driver_{};           // the thread that waits, while it has sockets to drive
  bool waiting_ = false;
  int asleep_ = 0;  // threads, on the descriptor
  bool ticking_ = false;
  bool fresh_ = false;   // a wait began or ended since the last tick: no clock is asked for each
  int quiet_ticks_ = 0;  // in which none did
};

}  // namespace weft::verbs::detail
