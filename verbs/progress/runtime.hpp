// SPDX-License-Identifier: Apache-2.0
// What all verbs objects of a process share: the table of STags, the pool of buffers, and weft's own threads, which
// sleep in the kernel while nothing happens. One thread serves deadlines and the connection manager. The progress
// threads serve the sockets of connections and listeners, which are distributed over them.
//
// Public handles own the runtime, and nothing inside it does. So it ends in a thread of the application, never in its
// own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/instant.hpp"
#include "transport/listener.hpp"
#include "transport/pcap_tap.hpp"
#include "transport/reactor.hpp"
#include "verbs/base/clock.hpp"
#include "verbs/error.hpp"
#include "verbs/memory/buffer_pool.hpp"
#include "verbs/memory/stag_table.hpp"
#include "verbs/progress/deadlines.hpp"
#include "verbs/progress/device_watch.hpp"
#include "verbs/progress/lost_wake_ups.hpp"
#include "verbs/progress/orphans.hpp"
#include "verbs/progress/progress_threads.hpp"
#include "verbs/progress/tick.hpp"

namespace weft::verbs::detail {

class Driven;

class Runtime {
 public:
  // The one that runs, or a new one.
  [[nodiscard]] static Result<std::shared_ptr<Runtime>> acquire();
  // Returns null when there is none.
  [[nodiscard]] static std::shared_ptr<Runtime> running();
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const std::shared_ptr<StagTable>& stags() const noexcept { return stags_; }
  [[nodiscard]] BufferPool& buffers() noexcept { return buffers_; }
  // Starts the threads at first use: with the first connection or listener, not when the library is loaded.
  transport::Reactor& reactor();
  // As above, for a call that can still fail.
  [[nodiscard]] Result<void> start();
  // The same before there is a thread: what is made with it waits.
  [[nodiscard]] transport::Reactor& resting_reactor() noexcept { return reactor_; }
  // In a child of fork(): it is the parent's, and so is all that belongs to it.
  [[nodiscard]] bool is_parents() const noexcept { return is_parents_.load(std::memory_order_relaxed); }
  // Returns whether the calling thread is a runtime's.
  [[nodiscard]] static bool on_its_thread() noexcept;

  // --- Streams
  void add(const std::shared_ptr<Driven>& stream);
  void forget(std::uint64_t number);
  [[nodiscard]] std::shared_ptr<Driven> find(std::uint64_t number);
  [[nodiscard]] std::vector<std::shared_ptr<Driven>> streams();  // all, the oldest first
  // Wakes the stream at `at` or earlier; an earlier wake-up that was asked for stays.
  void wake_at(std::uint64_t number, Instant at);
  // Not at `at`, after all.
  void forget_wake_up(std::uint64_t number, Instant at);

  [[nodiscard]] Orphans& orphans() noexcept { return orphans_; }
  // Watches the interface of an open device.
  void watch_interface(const std::shared_ptr<DeviceState>& device) { devices_.add(reactor_, device); }

  // --- Listeners: known here for the sake of fork() alone
  void add(std::uint64_t number, const std::shared_ptr<transport::Listener>& listener);
  void forget_listener(std::uint64_t number);

  // --- Who drives
  [[nodiscard]] ProgressThreads& progress_threads() noexcept { return progress_; }
  [[nodiscard]] Tick& tick() noexcept { return tick_; }
  // Until its presence is over: see Tick.
  void watch(std::shared_ptr<Driver> driver);

  // --- Capture; connections and queue pairs for datagrams made later use it.
  [[nodiscard]] static std::optional<transport::PcapStream> capture(const transport::Socket& socket, bool opened_here);
  [[nodiscard]] static transport::PcapDatagrams capture_datagrams(const transport::Endpoint& local);

 private:
  explicit Runtime(transport::Reactor reactor);
  [[nodiscard]] static std::size_t thread_count() noexcept;  // as set_progress_threads() says
  Result<void> open_timers();
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  void leave_to_parent(bool streams_locked);
  bool serve(const transport::Ready& ready);
  void serve_deadlines();
  void descriptors_are_gone();
  static void end(Runtime* runtime) noexcept;
  [[nodiscard]] std::vector<std::uint64_t> take_due();

  std::shared_ptr<StagTable> stags_ = std::make_shared<StagTable>();
  BufferPool buffers_;
  Orphans orphans_;
  transport::Reactor reactor_;
  std::once_flag started_;
  std::thread thread_;
  std::atomic<bool> is_parents_{false};

  std::mutex streams_mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Driven>> streams_;
  std::optional<Deadlines> deadlines_;  // since open_timers()
  DeviceWatch devices_;
  std::unordered_map<std::uint64_t, std::weak_ptr<transport::Listener>> listeners_;
  std::vector<std::shared_ptr<transport::Listener>> kept_;  // in a child: its parent's, see Listener::leave_to_parent

  ProgressThreads progress_;
  Tick tick_{[this](bool pollers_have_time) { progress_.on_tick(pollers_have_time); }};
  const std::unique_ptr<LostWakeUps> watchdog_ = LostWakeUps::make(*this);  // null in a release build
};

}  // namespace weft::verbs::detail
