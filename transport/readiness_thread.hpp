// SPDX-License-Identifier: Apache-2.0
// A thread that sleeps in the kernel until one of its sockets is ready, and then serves it. Nothing else happens
// between the kernel's wake-up and the read of the socket: no second descriptor is checked, and none is registered
// again.
//
// If few processors are available and other threads keep them busy, this thread may have to wait for one. An idle
// thread can then help.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "transport/readiness_set.hpp"

namespace weft::transport {

class ReadinessThread {
 public:
  using Serve = std::move_only_function<void(const Ready&)>;

  // `serve` runs in the thread or in a helping one, one call at a time, and again while a socket stays ready and has
  // interest. It must not throw. Fails if the process cannot open another descriptor.
  [[nodiscard]] static std::expected<ReadinessThread, std::error_code> create(Serve serve);
  ~ReadinessThread() { stop(); }
  ReadinessThread(ReadinessThread&& other) noexcept = default;  // before start()
  ReadinessThread& operator=(ReadinessThread&&) = delete;

  // Starts the thread; a further call has no effect. The thread blocks signals, except those of faults, and calls
  // `first` before anything else. If the application closes its descriptors, it calls `gone` and ends: no socket is
  // served any more.
  void start(std::function<void()> first = {}, std::function<void()> gone = {});
  // Stops the thread and waits for the current call of `serve`, which is the last one. Must not be called in the thread
  // itself.
  void stop();

  // --- Sockets for `serve` come and go in any thread. Tokens from 1 on, and below kFirstVisitor.
  std::error_code add(const Socket& socket, std::uint64_t token, Interest interest) noexcept;
  std::error_code modify(const Socket& socket, std::uint64_t token, Interest interest) noexcept {
    return sockets_.modify(socket, token, interest);
  }
  // For a socket that was added.
  void remove(const Socket& socket) noexcept;
  // Also counts sockets without Interest.
  [[nodiscard]] bool serves_any() const noexcept { return serving_->sockets.load(std::memory_order_relaxed) != 0; }

  // After rest(), the thread sleeps and a helping thread serves instead, until resume(). Thread-safe. After rest(), a
  // call of `serve` may still be in progress: serve_one() and help() wait for it or return.
  void rest();
  void resume();
  [[nodiscard]] bool rests() const noexcept { return serving_->duty == Duty::kRest; }
  // Returns whether a call of `serve` is in progress in some thread, which may have lost its processor. Must not be
  // called within such a call.
  [[nodiscard]] bool serves_now() const noexcept;
  // Call it in any other thread, without a lock that `serve` or a visitor takes. Serves up to `most` ready sockets if
  // the thread rests, or has not run for `late` since a socket became ready. Does not wait. Must not be called
  // concurrently with stop() or after it.
  void help(std::chrono::microseconds late, std::size_t most);
  // As help(), but serves one ready socket whether the thread rests or not. Returns false if none is ready. The
  // descriptor is readable while one is.
  bool serve_one();
  [[nodiscard]] int descriptor() const noexcept { return sockets_.descriptor(); }

  // --- Sockets that are not for `serve`: a listener's
  static constexpr std::uint64_t kFirstVisitor = 1ULL << 63;
  using Come = std::function<void()>;
  // Calls `come` in the thread for each arrival, and now if there already is one. Returns the token of the socket.
  [[nodiscard]] std::expected<std::uint64_t, std::error_code> visit(const Socket& socket, Come come);
  // Calls it once more if something still waits.
  void call_again(const Socket& socket, std::uint64_t token) noexcept { sockets_.repeat_edge(socket, token); }
  // Ends the calls. One may be in progress or imminent; it is the last one. Call it before closing the socket.
  void leave(const Socket& socket, std::uint64_t token);

 private:
  class Bell {  // wakes the thread for another task
   public:
    Bell() noexcept;
    ~Bell();
    Bell(Bell&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Bell& operator=(Bell&&) = delete;
    void ring() const noexcept;
    void silence() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

   private:
    int descriptor_;
  };

  ReadinessThread(ReadinessSet sockets, Serve serve) noexcept
      : sockets_(std::move(sockets)), serve_(std::move(serve)) {}
  enum class Duty : int { kServe, kRest, kEnd };
  void run();
  void serve(std::span<const Ready> ready, auto may_serve);
  void change(Duty duty);
  void call(std::uint64_t visitor);
  [[nodiscard]] bool is_late(std::chrono::microseconds late);

  struct Serving {
    std::atomic<Duty> duty{Duty::kServe};
    std::atomic<bool> gone{false};  // the descriptors
    std::atomic<std::size_t> sockets{0};
    std::mutex mutex{};  // of the thread that serves, and of what follows
    // When something was first seen ready since the last run of the thread.
    std::optional<std::chrono::steady_clock::time_point> late_since{};
  };
  struct Visitors {
    std::mutex mutex{};
    std::uint64_t next = kFirstVisitor;
    std::unordered_map<std::uint64_t, std::shared_ptr<const Come>> come{};
  };

  Bell bell_{};
  std::unique_ptr<Serving> serving_ = std::make_unique<Serving>();
  std::unique_ptr<Visitors> visitors_ = std::make_unique<Visitors>();
  ReadinessSet sockets_;
  Serve serve_;
  std::thread thread_{};
};

}  // namespace weft::transport
