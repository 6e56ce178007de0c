// SPDX-License-Identifier: Apache-2.0
// What all verbs objects of a process share: the table of STags, the pool of buffers, and the threads of its own, which
// sleep in the kernel while nothing happens: one for deadlines and the connection manager, and the progress threads,
// over which connections and listeners are spread and which serve their sockets.
//
// Public handles own the runtime; nothing inside it does. So it ends in an application's thread, never in its own.
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
#include "transport/readiness_thread.hpp"
#include "verbs/detail/application_drivers.hpp"
#include "verbs/detail/buffer_pool.hpp"
#include "verbs/detail/clock.hpp"
#include "verbs/detail/deadlines.hpp"
#include "verbs/detail/orphans.hpp"
#include "verbs/detail/stag_table.hpp"
#include "verbs/detail/watchdog.hpp"
#include "verbs/error.hpp"

namespace weft::verbs::detail {

class Stream;

class Runtime {
 public:
  // The one that runs, or a new one.
  [[nodiscard]] static Result<std::shared_ptr<Runtime>> acquire();
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const std::shared_ptr<StagTable>& stags() const noexcept { return stags_; }
  [[nodiscard]] BufferPool& buffers() noexcept { return buffers_; }
  // Starts the threads at first use: with the first connection or listener, not when the library is loaded.
  transport::Reactor& reactor();
  // The same before there is a thread: what is made with it waits.
  [[nodiscard]] transport::Reactor& resting_reactor() noexcept { return reactor_; }
  // In a child of fork(): it is the parent's, and so is all that belongs to it.
  [[nodiscard]] bool is_parents() const noexcept { return is_parents_.load(std::memory_order_relaxed); }
  // Whether the calling thread is a runtime's.
  [[nodiscard]] static bool on_its_thread() noexcept;

  // --- Streams
  void add(const std::shared_ptr<Stream>& stream);
  void forget(std::uint64_t number);
  [[nodiscard]] std::shared_ptr<Stream> find(std::uint64_t number);
  // Where the listener of this number listens, or the socket of the stream of this number is watched (but see
  // Stream::move_to_own_thread).
  [[nodiscard]] transport::ReadinessThread& progress(std::uint64_t number) noexcept {
    return progress_[number % progress_.size()];
  }
  // By a thread that polls and finds nothing: serves sockets of progress threads that rest, or get no processor.
  void help();
  // A thread that polled goes: nobody can tell who else helps before the next tick.
  void resume();
  // From here on to step_back() the thread that calls serve_one() is all that serves, and the progress thread rests:
  // as long as there is nothing to serve but set-ups, and nobody else to be woken for one. False when there is, when
  // there are several progress threads, or when somebody stands in already.
  [[nodiscard]] bool stand_in();
  void step_back();
  bool serve_one() { return progress_.front().serve_one(); }  // false when nothing is ready
  [[nodiscard]] int stands_in_at() const noexcept { return progress_.front().descriptor(); }  // readable meanwhile
  // Around the sleep of a thread that is to be woken for an event of a set-up.
  void falls_asleep();
  void wakes_up() noexcept { --sleepers_; }
  // Wakes the stream at `at` or earlier; an earlier wake-up that was asked for stays.
  void wake_at(std::uint64_t number, Instant at);
  // Not at `at`, after all.
  void forget_wake_up(std::uint64_t number, Instant at);

  [[nodiscard]] Orphans& orphans() noexcept { return orphans_; }

  // --- Listeners: known here for the sake of fork() alone
  void add(std::uint64_t number, const std::shared_ptr<transport::Listener>& listener);
  void forget_listener(std::uint64_t number);

  // --- Threads of the application that drive sockets
  [[nodiscard]] ApplicationDrivers& drivers() noexcept { return drivers_; }
  // Until it is idle: see ApplicationDrivers.
  void watch(std::shared_ptr<ApplicationDriver> driver);
  // The socket of this stream is in the set of a thread that serves it: a progress thread that does not rest, or one
  // that stands in.
  [[nodiscard]] bool serves(std::uint64_t number) noexcept;

  // --- Capture; connections made later use it.
  [[nodiscard]] static std::optional<transport::PcapStream> capture(const transport::Socket& socket, bool opened_here);

 private:
  explicit Runtime(transport::Reactor reactor);
  [[nodiscard]] static std::size_t progress_threads() noexcept;  // as set_progress_threads() says
  Result<void> open_timers();
  Result<void> open_progress(std::size_t threads);
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
  void leave_to_parent(bool streams_locked);
  void serve(const transport::Ready& ready);
  void serve_deadlines();
  void descriptors_are_gone();
  [[nodiscard]] std::vector<std::uint64_t> take_due();
  void share_work(bool others_have_time);
  // runtime_watchdog.cpp
  bool look_for_the_forgotten();
  void look_at_tick(Watchdog::Clock::time_point now);
  bool look_at_rest(Watchdog::Clock::time_point now);
  void look_at(Stream& stream, Watchdog::Clock::time_point now);
  void choose_streams();

  std::shared_ptr<StagTable> stags_ = std::make_shared<StagTable>();
  BufferPool buffers_;
  Orphans orphans_;
  transport::Reactor reactor_;
  std::once_flag started_;
  std::thread thread_;
  std::atomic<bool> is_parents_{false};
  std::atomic<bool> runs_{false};           // the threads
  std::atomic<bool> stood_in_for_{false};   // the progress thread
  std::atomic<bool> messages_came_{false};  // for established connections that it serves, since the last look
  std::atomic<int> sleepers_{0};

  std::mutex streams_mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Stream>> streams_;
  std::optional<Deadlines> deadlines_;  // since open_timers()
  std::unordered_map<std::uint64_t, std::weak_ptr<transport::Listener>> listeners_;
  std::vector<std::shared_ptr<transport::Listener>> kept_;  // in a child: its parent's, see Listener::leave_to_parent

  ApplicationDrivers drivers_;
  Watchdog watchdog_{[this] { return look_for_the_forgotten(); }};
  std::size_t bucket_ = 0;                          // of streams_, that its last look ended with
  std::vector<std::shared_ptr<Stream>> looked_at_;  // within a look; the memory is kept

  std::vector<transport::ReadinessThread> progress_;
};

}  // namespace weft::verbs::detail
